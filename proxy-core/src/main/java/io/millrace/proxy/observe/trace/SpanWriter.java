package io.millrace.proxy.observe.trace;

/**
 * A receiver of the parts of one span, from {@link SpanView#writeTo}. The methods are called in the order below, which
 * is that of OTLP.
 *
 * <p>A span id is one number of 64 bits. A trace id is two such numbers, its first half and its second half. Texts have
 * one byte per character (ISO 8859-1). Their arrays are valid only during the call, and must not be changed.
 */
public interface SpanWriter {
    /** Begins a span. */
    void begin(long traceHigh, long traceLow, long spanId);

    /** Receives the W3C trace state of a trusted client. Not called without one. */
    void traceState(byte[] bytes, int from, int length);

    /** Receives the id of the parent. Not called for the first span of a trace. */
    void parent(long parentId);

    /**
     * Receives the properties that each span has.
     *
     * @param name the method of the request, in ASCII
     * @param startEpochNanos start, in nanoseconds since 1970
     * @param endEpochNanos end, in nanoseconds since 1970
     */
    void request(byte[] name, Span.Kind kind, long startEpochNanos, long endEpochNanos);

    /** Receives an attribute that is a text. */
    void attribute(SpanAttribute name, byte[] bytes, int from, int length);

    /** Receives an attribute that is one of few texts. The array is the same for each span with this text. */
    default void constant(SpanAttribute name, byte[] text) {
        attribute(name, text, 0, text.length);
    }

    /** Receives an attribute that is a number, at least 0. */
    void attribute(SpanAttribute name, long value);

    /** Receives an attribute that is true. */
    void attribute(SpanAttribute name);

    /** Receives the fetch of another request whose response answered this request. Not called without one. */
    void link(long traceHigh, long traceLow, long spanId);

    /**
     * Ends the span.
     *
     * @param isSampled as in {@link Span#isSampled}
     * @param isError as in {@link Span#isError}
     */
    void end(boolean isSampled, boolean isError);
}
