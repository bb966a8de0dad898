package io.millrace.worker.traces;

import io.millrace.proxy.observe.trace.SpanCounts;
import io.millrace.proxy.observe.trace.SpanSink;
import io.millrace.proxy.observe.trace.TraceConfig;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Opens the export of spans. Stateless. */
public final class OtlpExport {
    private OtlpExport() {}

    /**
     * Opens the export to the endpoint of the settings. See {@link io.millrace.proxy.observe.trace.SpanExport#open}.
     *
     * @return null if no endpoint is configured
     */
    public static @Nullable SpanSink open(TraceConfig config, SpanCounts counts) throws IOException {
        String endpoint = config.endpoint();
        return endpoint == null ? null : OtlpSink.open(endpoint, config, counts);
    }
}
