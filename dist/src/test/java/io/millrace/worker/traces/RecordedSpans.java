package io.millrace.worker.traces;

import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.trace.LoopTraces;
import io.millrace.proxy.observe.trace.SpanSink;
import io.millrace.proxy.observe.trace.SpanView;
import io.millrace.proxy.observe.trace.TraceConfig;
import io.millrace.proxy.observe.trace.Traces;
import java.util.function.Consumer;
import org.slf4j.LoggerFactory;

/** Spans that a test writes as an event loop does, and reads as a sink does. */
final class RecordedSpans {
    private final Consumer<LoopTraces> writer;
    private final boolean showsQuery;

    private RecordedSpans(Consumer<LoopTraces> writer, boolean showsQuery) {
        this.writer = writer;
        this.showsQuery = showsQuery;
    }

    /** One span without a request. {@code more} writes further ones. */
    static RecordedSpans of(Consumer<LoopTraces> more) {
        return new RecordedSpans(more.andThen(traces -> SpanCase.BARE.write(traces)), true);
    }

    /** The spans that the writer writes. */
    static RecordedSpans only(Consumer<LoopTraces> writer, boolean showsQuery) {
        return new RecordedSpans(writer, showsQuery);
    }

    /** Passes the views of all spans to a reader, on another thread. Returns after the last one. */
    void each(Consumer<SpanView> reader) {
        FaultLog faults = new FaultLog(LoggerFactory.getLogger(RecordedSpans.class), 1, System::nanoTime);
        SpanSink sink = new SpanSink() {
            @Override
            public void accept(SpanView span) {
                reader.accept(span);
            }

            @Override
            public void close() {}
        };
        try (Traces traces = Traces.of((config, counts) -> sink, faults)) {
            LoopTraces loop = traces.newLoop();
            traces.apply(new TraceConfig(
                    "http://x", 1, 0, "x", showsQuery, TraceConfig.Compression.NONE, null, null, null, null));
            writer.accept(loop);
        }
        if (faults.total() > 0) {
            throw new AssertionError("a reader failed");
        }
    }
}
