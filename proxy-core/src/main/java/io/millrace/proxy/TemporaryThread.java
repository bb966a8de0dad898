package io.millrace.proxy;

import io.netty.util.concurrent.FastThreadLocalThread;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** A thread for one task, so that no longer-lived thread keeps an arena of the buffer pool reachable. */
final class TemporaryThread {
    private TemporaryThread() {}

    /** A task that may fail with an I/O error. */
    interface Task<T> {
        T run() throws IOException;
    }

    /** Runs the task on a new thread of that name, and waits for its result. */
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
