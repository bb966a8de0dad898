package io.millrace.proxy.net;

import io.netty.util.concurrent.EventExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Defers tasks of an event loop until the loop has polled its sockets again.
 *
 * <p>If a task submits another task, Netty (4.2.18, {@code SingleThreadIoEventLoop}) runs that task before it polls the
 * sockets. A chain of such tasks could delay all connections for up to a second. A scheduled task, as used here, waits
 * for the next iteration of the loop.
 */
public final class AfterIoTasks {
    private AfterIoTasks() {}

    /** Runs the task on the loop after the next poll of its sockets. Exceptions are logged like those of any task. */
    public static void next(EventExecutor loop, Runnable task) {
        // The inner execute logs an exception of the task. schedule alone would store it in a future that nobody
        // reads.
        var unused = loop.schedule(() -> loop.execute(task), 0, TimeUnit.NANOSECONDS);
    }
}
