/**
 * The worker: the process that serves clients. It receives its listening sockets and its configuration from the
 * launcher, runs the proxy, and sends heartbeats. After the death of the launcher it continues to serve, until a new
 * launcher adopts it.
 */
@NullMarked
package io.millrace.worker;

import org.jspecify.annotations.NullMarked;
