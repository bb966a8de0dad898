package io.millrace.proxy.observe.trace;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Opens the receivers of spans, at the start of a proxy and after each change of the settings of traces. */
@FunctionalInterface
public interface SpanExport {
    /**
     * Opens a receiver. Called by the thread that starts or reloads the proxy.
     *
     * @param counts the counts of the proxy's metrics, which the receiver updates; thread-safe
     * @return null if these settings disable traces; no request is traced then
     * @throws IOException if a file of the settings cannot be used; no request is traced until the next change
     */
    @Nullable
    SpanSink open(TraceConfig config, SpanCounts counts) throws IOException;
}
