package io.millrace.worker.traces;

/** The encoded spans of one request to the collector. Owned by one thread at a time. */
final class OtlpBatch {
    private static final int CAPACITY = 64 << 10;

    private final OtlpResource resource;
    private final ProtoBuffer buffer = new ProtoBuffer(CAPACITY);
    private int spans;
    private long begunNanos;

    OtlpBatch(OtlpResource resource) {
        this.resource = resource;
        clear();
    }

    /** Removes all spans. */
    void clear() {
        buffer.moveTo(resource.lengthMax());
        spans = 0;
    }

    /** The buffer, to which a span is appended before {@link #added}. */
    ProtoBuffer buffer() {
        return buffer;
    }

    /** Counts a span that was appended. */
    void added() {
        if (spans++ == 0) {
            begunNanos = System.nanoTime();
        }
    }

    int spans() {
        return spans;
    }

    /** The length of the spans and of the space that is reserved before them, in bytes. */
    int length() {
        return buffer.end();
    }

    /** Time of the first span, as {@link System#nanoTime}. */
    long begunNanos() {
        return begunNanos;
    }

    /** Completes the request. Returns its start in the buffer. */
    int complete() {
        return resource.writeBefore(buffer);
    }
}
