/**
 * The launcher: a small process that binds the listening sockets, keeps one worker alive behind them, and answers the
 * operator. It never accepts a connection of a client: what arrives while no worker runs waits in the kernel's queue.
 */
@NullMarked
package io.millrace.launcher;

import org.jspecify.annotations.NullMarked;
