package io.millrace.worker.traces;

import io.millrace.proxy.Version;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The part of a request to the collector that precedes the spans: the resource and the scope. Immutable.
 *
 * <pre>
 *   ExportTraceServiceRequest { resource_spans: ResourceSpans {
 *       resource { attributes }   scope_spans: ScopeSpans { scope { name }   spans ... } } }
 * </pre>
 */
final class OtlpResource {
    private static final String SCOPE_NAME = "io.millrace";
    private static final int RESOURCE_SPANS = 1;
    private static final int RESOURCE = 1;
    private static final int SCOPE_SPANS = 2;
    private static final int SCOPE = 1;
    private static final int NAME = 1;
    private static final int ATTRIBUTES = 1;
    private static final int KEY = 1;
    private static final int VALUE = 2;
    private static final int STRING_VALUE = 1;
    private static final int INT_VALUE = 3;
    private static final int TAG_AND_LENGTH_MAX = 6;

    private final byte[] resource;
    private final byte[] scope;

    OtlpResource(String serviceName, long processId) {
        ProtoBuffer out = new ProtoBuffer(128);
        int message = out.beginMessage(RESOURCE);
        text(out, "service.name", serviceName);
        text(out, "service.version", Version.current());
        int attribute = key(out, "process.pid");
        int value = out.beginMessage(VALUE);
        out.varint(ProtoBuffer.tag(INT_VALUE, ProtoBuffer.VARINT));
        out.varint(processId);
        out.endMessage(value);
        out.endMessage(attribute);
        out.endMessage(message);
        resource = Arrays.copyOf(out.bytes(), out.end());
        out.moveTo(0);
        message = out.beginMessage(SCOPE);
        utf8(out, NAME, SCOPE_NAME);
        out.endMessage(message);
        scope = Arrays.copyOf(out.bytes(), out.end());
    }

    private static int key(ProtoBuffer out, String key) {
        int attribute = out.beginMessage(ATTRIBUTES);
        utf8(out, KEY, key);
        return attribute;
    }

    private static void text(ProtoBuffer out, String key, String text) {
        int attribute = key(out, key);
        int value = out.beginMessage(VALUE);
        utf8(out, STRING_VALUE, text);
        out.endMessage(value);
        out.endMessage(attribute);
    }

    private static void utf8(ProtoBuffer out, int field, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        out.varint(ProtoBuffer.tag(field, ProtoBuffer.LENGTH));
        out.varint(bytes.length);
        out.raw(bytes);
    }

    /** The number of bytes that a buffer must reserve before its spans. */
    int lengthMax() {
        return resource.length + scope.length + 2 * TAG_AND_LENGTH_MAX;
    }

    /**
     * Completes a request: writes this part before the spans of a buffer. Returns the start of the request.
     *
     * @param buffer has {@link #lengthMax} unused bytes, and then the spans
     */
    int writeBefore(ProtoBuffer buffer) {
        int end = buffer.end();
        int scopeSpans = scope.length + end - lengthMax();
        int resourceSpans = resource.length + 1 + ProtoBuffer.varintLength(scopeSpans) + scopeSpans;
        int start = end - resourceSpans - 1 - ProtoBuffer.varintLength(resourceSpans);
        buffer.moveTo(start);
        buffer.varint(ProtoBuffer.tag(RESOURCE_SPANS, ProtoBuffer.LENGTH));
        buffer.varint(resourceSpans);
        buffer.raw(resource);
        buffer.varint(ProtoBuffer.tag(SCOPE_SPANS, ProtoBuffer.LENGTH));
        buffer.varint(scopeSpans);
        buffer.raw(scope);
        buffer.moveTo(end);
        return start;
    }
}
