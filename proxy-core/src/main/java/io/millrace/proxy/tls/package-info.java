/** TLS with clients: certificates by name, the contexts created from them, and the selection at a handshake. */
@NullMarked
package io.millrace.proxy.tls;

import org.jspecify.annotations.NullMarked;
