/**
 * The launcher: a small process that keeps one worker process running. It binds the listening sockets and serves the
 * admin socket. It never accepts client connections. While no worker runs, new connections wait in the kernel's accept
 * queue.
 */
@NullMarked
package io.millrace.launcher;

import org.jspecify.annotations.NullMarked;
