package io.millrace.worker;

import io.millrace.proxy.config.ProxyConfig;
import java.io.IOException;
import java.util.concurrent.CompletionStage;

/** A running warm-up, which has its own threads. Thread-safe. */
interface Warming extends AutoCloseable {

    /** Starts warm-ups. */
    interface Starter {
        /** Returns the time limit of a warm-up in nanoseconds; 0 if there is no warm-up. */
        long limitNanos(ProxyConfig config);

        /** Starts a warm-up, and returns at once. */
        Warming start(ProxyConfig config) throws IOException;
    }

    /** Completes normally, with a description of the result, when the warm-up has ended. */
    CompletionStage<String> finished();

    /** Requests the end of the warm-up. Does not block. */
    void stop();

    /** Releases all resources. May block. */
    @Override
    void close();
}
