/** TLS to clients: certificates by name, the contexts made of them, and the choice between them at a handshake. */
@NullMarked
package io.millrace.proxy.tls;

import org.jspecify.annotations.NullMarked;
