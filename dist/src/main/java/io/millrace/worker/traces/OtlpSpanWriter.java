package io.millrace.worker.traces;

import static io.millrace.worker.traces.ProtoBuffer.LENGTH;
import static io.millrace.worker.traces.ProtoBuffer.VARINT;
import static io.millrace.worker.traces.ProtoBuffer.tag;

import io.millrace.proxy.observe.trace.Span;
import io.millrace.proxy.observe.trace.SpanAttribute;
import io.millrace.proxy.observe.trace.SpanView;
import io.millrace.proxy.observe.trace.SpanWriter;
import java.util.Arrays;

/**
 * Encodes spans for OTLP: as {@code ScopeSpans.spans} of opentelemetry/proto/trace/v1/trace.proto, fields in the order
 * of their numbers. Confined to one thread.
 */
final class OtlpSpanWriter implements SpanWriter {
    private static final int SPANS = 2;

    // Fields of Span.
    private static final int TRACE_ID = 1;
    private static final int SPAN_ID = 2;
    private static final int TRACE_STATE = 3;
    private static final int PARENT_SPAN_ID = 4;
    private static final int NAME = 5;
    private static final int KIND = 6;
    private static final int START_TIME = 7;
    private static final int END_TIME = 8;
    private static final int ATTRIBUTES = 9;
    private static final int LINKS = 13;
    private static final int STATUS = 15;
    private static final int FLAGS = 16;

    private static final int KIND_SERVER = 2;
    private static final int KIND_CLIENT = 3;
    private static final int LINK_FLAGS = 6;
    private static final int STATUS_CODE = 3;
    private static final int STATUS_CODE_ERROR = 2;
    /** Flags of OTLP: the trace is sampled, and whether the parent is in another process is known. */
    private static final int SAMPLED = 0x1 | 0x100;
    /** Flag of OTLP: the parent is in another process. */
    private static final int REMOTE = 0x200;

    // Fields of KeyValue and AnyValue.
    private static final int KEY = 1;
    private static final int VALUE = 2;
    private static final int STRING_VALUE = 1;
    private static final int BOOL_VALUE = 2;
    private static final int INT_VALUE = 3;

    /** The field {@link #KEY} of each attribute and the tag of its value, encoded. */
    private static final byte[][] KEYS = keys();

    /** The last value of each recurring attribute, encoded; copying it is cheaper than encoding it again. */
    private final EncodedAttributes lastEncodings = new EncodedAttributes(KEYS.length);

    private ProtoBuffer out = new ProtoBuffer(0);
    private int message;
    private boolean isParentRemote;
    private boolean hasParent;

    private static byte[][] keys() {
        byte[][] names = SpanAttribute.names();
        byte[][] keys = new byte[names.length][];
        for (int i = 0; i < names.length; i++) {
            keys[i] = key(names[i]);
        }
        return keys;
    }

    private static byte[] key(byte[] name) {
        ProtoBuffer key = new ProtoBuffer(name.length + 3);
        key.text(KEY, name, 0, name.length, name.length);
        key.varint(tag(VALUE, LENGTH));
        return Arrays.copyOf(key.bytes(), key.end());
    }

    /** Appends a span. If this throws an exception, the buffer is as before. */
    void append(SpanView span, ProtoBuffer to) {
        int before = to.end();
        out = to;
        boolean isComplete = false;
        try {
            span.writeTo(this);
            isComplete = true;
        } finally {
            if (!isComplete) {
                to.moveTo(before);
            }
        }
    }

    @Override
    public void begin(long traceHigh, long traceLow, long spanId) {
        hasParent = false;
        message = out.beginMessage(SPANS);
        out.id(TRACE_ID, traceHigh, traceLow);
        out.id(SPAN_ID, spanId);
    }

    @Override
    public void traceState(byte[] bytes, int from, int length) {
        out.text(TRACE_STATE, bytes, from, length, ProtoBuffer.utf8Length(bytes, from, length));
    }

    @Override
    public void parent(long parentId) {
        hasParent = true;
        out.id(PARENT_SPAN_ID, parentId);
    }

    @Override
    public void request(byte[] name, Span.Kind kind, long startEpochNanos, long endEpochNanos) {
        // A SERVER span's parent is in another process, a CLIENT span's parent in this one.
        isParentRemote = hasParent && kind == Span.Kind.SERVER;
        out.text(NAME, name, 0, name.length, name.length);
        out.varint(tag(KIND, VARINT));
        out.varint(kind == Span.Kind.SERVER ? KIND_SERVER : KIND_CLIENT);
        out.fixed64(START_TIME, startEpochNanos);
        out.fixed64(END_TIME, endEpochNanos);
    }

    /** Begins an attribute whose value, an AnyValue, has this length. */
    private static void key(ProtoBuffer to, SpanAttribute name, int valueLength) {
        byte[] key = KEYS[name.index()];
        to.varint(tag(ATTRIBUTES, LENGTH));
        to.varint(key.length + ProtoBuffer.varintLength(valueLength) + valueLength);
        to.raw(key);
        to.varint(valueLength);
    }

    @Override
    public void attribute(SpanAttribute name, byte[] bytes, int from, int length) {
        text(out, name, bytes, from, length);
    }

    private static void text(ProtoBuffer to, SpanAttribute name, byte[] bytes, int from, int length) {
        int utf8Length = ProtoBuffer.utf8Length(bytes, from, length);
        key(to, name, 1 + ProtoBuffer.varintLength(utf8Length) + utf8Length);
        to.text(STRING_VALUE, bytes, from, length, utf8Length);
    }

    @Override
    public void constant(SpanAttribute name, byte[] text) {
        int index = name.index();
        if (!lastEncodings.has(index, text)) {
            text(lastEncodings.begin(), name, text, 0, text.length);
            lastEncodings.end(index, text);
        }
        out.raw(lastEncodings.encoded(index));
    }

    @Override
    public void attribute(SpanAttribute name, long value) {
        int index = name.index();
        if (!lastEncodings.has(index, value)) {
            ProtoBuffer to = lastEncodings.begin();
            key(to, name, 1 + ProtoBuffer.varintLength(value));
            to.varint(tag(INT_VALUE, VARINT));
            to.varint(value);
            lastEncodings.end(index, value);
        }
        out.raw(lastEncodings.encoded(index));
    }

    @Override
    public void attribute(SpanAttribute name) {
        key(out, name, 2);
        out.varint(tag(BOOL_VALUE, VARINT));
        out.varint(1);
    }

    @Override
    public void link(long traceHigh, long traceLow, long spanId) {
        int link = out.beginMessage(LINKS);
        out.id(TRACE_ID, traceHigh, traceLow);
        out.id(SPAN_ID, spanId);
        out.fixed32(LINK_FLAGS, SAMPLED);
        out.endMessage(link);
    }

    @Override
    public void end(boolean isSampled, boolean isError) {
        if (isError) {
            int status = out.beginMessage(STATUS);
            out.varint(tag(STATUS_CODE, VARINT));
            out.varint(STATUS_CODE_ERROR);
            out.endMessage(status);
        }
        // Each exported span counts as sampled here. Collectors could otherwise drop the failed and slow ones.
        out.fixed32(FLAGS, isParentRemote ? SAMPLED | REMOTE : SAMPLED);
        out.endMessage(message);
    }
}
