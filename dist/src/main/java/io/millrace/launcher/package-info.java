/**
 * The launcher: a small process that binds the listening sockets, keeps one worker running, and serves the admin
 * socket. It never accepts connections of clients: while no worker runs, they wait in the kernel's accept queue.
 */
@NullMarked
package io.millrace.launcher;

import org.jspecify.annotations.NullMarked;
