package io.millrace.proxy.net;

import io.netty.util.concurrent.EventExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Leaves an event loop to its sockets. Tasks that are executed one from the other run in one turn, for up to a second, before Netty (4.2.18,
 * {@code SingleThreadIoEventLoop}) looks at a socket again; what is scheduled waits for the turn's end.
 */
public final class AfterIoTasks {
    private AfterIoTasks() {}

    /** Runs the task on the loop after it has looked at its sockets once more; what it throws is logged as of any task. */
    public static void next(EventExecutor loop, Runnable task) {
        // A scheduled task's failure would be told to its future, and so to nobody.
        var unused = loop.schedule(() -> loop.execute(task), 0, TimeUnit.NANOSECONDS);
    }
}
