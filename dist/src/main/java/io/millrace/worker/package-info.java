/**
 * The worker: the process that serves clients. Receives its sockets and its configuration from the launcher, runs the
 * proxy, and sends heartbeats. After the death of the launcher it continues to serve, and waits for the next launcher.
 */
@NullMarked
package io.millrace.worker;

import org.jspecify.annotations.NullMarked;
