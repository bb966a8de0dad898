/** TLS with clients: certificates, TLS contexts, and the selection of a certificate in the handshake. */
@NullMarked
package io.millrace.proxy.tls;

import org.jspecify.annotations.NullMarked;
