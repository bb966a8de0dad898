package io.millrace.proxy.net;

import io.netty.util.concurrent.EventExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Runs tasks of an event loop after its next socket poll. Tasks that execute further tasks run in the same iteration,
 * for up to a second, before Netty (4.2.18, {@code SingleThreadIoEventLoop}) polls the sockets again. Scheduled tasks
 * wait for the end of the iteration.
 */
public final class AfterIoTasks {
    private AfterIoTasks() {}

    /** Runs the task on the loop after the next poll of its sockets. Exceptions are logged like those of any task. */
    public static void next(EventExecutor loop, Runnable task) {
        // The nested execute logs an exception. A scheduled task would pass it to its future, which nobody reads.
        var unused = loop.schedule(() -> loop.execute(task), 0, TimeUnit.NANOSECONDS);
    }
}
