package io.millrace.worker;

import io.millrace.proxy.config.ProxyConfig;
import java.io.IOException;
import java.util.concurrent.CompletionStage;

/** A running warm-up, on its own threads. Thread-safe. */
interface Warming extends AutoCloseable {

    /** Starts warm-ups. */
    interface Starter {
        /** Time limit of a warm-up; 0 for no warm-up. */
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
