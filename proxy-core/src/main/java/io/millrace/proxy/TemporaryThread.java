package io.millrace.proxy;

import io.netty.util.concurrent.FastThreadLocalThread;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * Runs a single task on a new thread. A thread that allocates buffers keeps an arena of the buffer pool reachable.
 * Therefore such tasks should not run on threads that outlive the proxy.
 */
final class TemporaryThread {
    private TemporaryThread() {}

    /** A task that may fail with an I/O error. */
    interface Task<T> {
        T run() throws IOException;
    }

    /** Runs a task on a new thread with the given name. Blocks until the task has ended, and returns its result. */
    static <T> T run(String name, Task<T> task) throws IOException {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread thread = new FastThreadLocalThread(
                () -> {
                    try {
                        result.complete(task.run());
                    } catch (IOException | RuntimeException | Error e) {
                        result.completeExceptionally(e);
                    }
                },
                name);
        thread.start();
        try {
            return result.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof IOException failure) {
                throw failure;
            }
            throw e;
        }
    }
}
