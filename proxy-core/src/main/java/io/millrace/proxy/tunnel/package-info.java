/** Tunnels: a client connection and an origin connection joined byte for byte, after CONNECT or a protocol switch. */
@NullMarked
package io.millrace.proxy.tunnel;

import org.jspecify.annotations.NullMarked;
