package io.millrace.proxy.observe.trace;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A finished span, with names of OpenTelemetry's conventions for HTTP. Ids are in lower-case hexadecimal digits.
 * Immutable.
 *
 * @param kind the side of the proxy
 * @param traceId 32 digits
 * @param spanId 16 digits
 * @param parentId 16 digits; null for the first span of a trace
 * @param isSampled whether the trace was sampled at its start; false for a slow or failed request that was exported
 *     without being sampled
 * @param traceState the W3C trace state of a trusted client; null for none
 * @param name the method of the request
 * @param startEpochNanos start, in nanoseconds since 1970
 * @param endEpochNanos end, in nanoseconds since 1970
 * @param isError whether the status of the span is an error
 * @param link the fetch of another request whose response answered this request; null for none
 * @param attributes values of the classes String, Long and Boolean by name
 */
public record Span(
        Kind kind,
        String traceId,
        String spanId,
        @Nullable String parentId,
        boolean isSampled,
        @Nullable String traceState,
        String name,
        long startEpochNanos,
        long endEpochNanos,
        boolean isError,
        @Nullable Link link,
        Map<String, Object> attributes) {

    /** The side of the proxy that a span describes. */
    public enum Kind {
        /** A request of a client. */
        SERVER,
        /** A request to an origin. */
        CLIENT
    }

    /**
     * A reference to the span of another trace.
     *
     * @param traceId 32 digits
     * @param spanId 16 digits
     */
    public record Link(String traceId, String spanId) {}
}
