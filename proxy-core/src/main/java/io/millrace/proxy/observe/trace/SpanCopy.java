package io.millrace.proxy.observe.trace;

import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Copies one span to an object. Confined to one thread. */
final class SpanCopy implements SpanWriter {
    private final Map<String, Object> attributes = new LinkedHashMap<>();
    private String traceId = "";
    private String spanId = "";
    private @Nullable String parentId;
    private @Nullable String traceState;
    private String name = "";
    private Span.Kind kind = Span.Kind.SERVER;
    private long startEpochNanos;
    private long endEpochNanos;
    private boolean isSampled;
    private boolean isError;
    private Span.@Nullable Link link;

    SpanCopy() {}

    /** Returns the span, after {@link #end}. */
    Span span() {
        return new Span(
                kind,
                traceId,
                spanId,
                parentId,
                isSampled,
                traceState,
                name,
                startEpochNanos,
                endEpochNanos,
                isError,
                link,
                Collections.unmodifiableMap(attributes));
    }

    private static String text(byte[] bytes, int from, int length) {
        return new String(bytes, from, length, StandardCharsets.ISO_8859_1);
    }

    @Override
    public void begin(long traceHigh, long traceLow, long id) {
        traceId = TraceParent.hex(traceHigh) + TraceParent.hex(traceLow);
        spanId = TraceParent.hex(id);
    }

    @Override
    public void traceState(byte[] bytes, int from, int length) {
        traceState = text(bytes, from, length);
    }

    @Override
    public void parent(long id) {
        parentId = TraceParent.hex(id);
    }

    @Override
    public void request(byte[] ofName, Span.Kind ofKind, long start, long end) {
        name = text(ofName, 0, ofName.length);
        kind = ofKind;
        startEpochNanos = start;
        endEpochNanos = end;
    }

    @Override
    public void attribute(SpanAttribute attribute, byte[] bytes, int from, int length) {
        attributes.put(attribute.text(), text(bytes, from, length));
    }

    @Override
    public void attribute(SpanAttribute attribute, long value) {
        attributes.put(attribute.text(), value);
    }

    @Override
    public void attribute(SpanAttribute attribute) {
        attributes.put(attribute.text(), true);
    }

    @Override
    public void link(long traceHigh, long traceLow, long id) {
        link = new Span.Link(TraceParent.hex(traceHigh) + TraceParent.hex(traceLow), TraceParent.hex(id));
    }

    @Override
    public void end(boolean sampled, boolean error) {
        isSampled = sampled;
        isError = error;
    }
}
