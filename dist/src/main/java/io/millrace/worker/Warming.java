package io.millrace.worker;

import io.millrace.proxy.config.ProxyConfig;
import java.io.IOException;
import java.util.concurrent.CompletionStage;

/** A warm-up that runs beside the worker's own threads. Thread-safe. */
interface Warming extends AutoCloseable {

    /** Begins to warm up. */
    interface Starter {
        /** The longest time that a warm-up takes; 0 for none. */
        long limitNanos(ProxyConfig config);

        /** Begins, and returns at once. */
        Warming start(ProxyConfig config) throws IOException;
    }

    /** Completes normally, with how it ended, when nothing of it runs any more. */
    CompletionStage<String> finished();

    /** Ends it soon. Does not block. */
    void stop();

    /** Frees all that it took. May block. */
    @Override
    void close();
}
