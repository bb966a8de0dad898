/** Tunnels between a client connection and an origin connection, after CONNECT or a protocol upgrade. */
@NullMarked
package io.millrace.proxy.tunnel;

import org.jspecify.annotations.NullMarked;
