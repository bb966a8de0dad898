/**
 * The worker: the process that serves. It gets its sockets and its configuration from the launcher, runs the proxy, and
 * tells the launcher that it lives. When the launcher dies it goes on serving and waits for the next one.
 */
@NullMarked
package io.millrace.worker;

import org.jspecify.annotations.NullMarked;
