package io.millrace.proxy.observe.log;

import static io.millrace.proxy.observe.log.AccessLogRecord.INTS;
import static io.millrace.proxy.observe.log.AccessLogRecord.LONGS;

import io.millrace.proxy.observe.CacheResult;

/**
 * A published access log record, read in place by the writer. Valid until the reader's callback returns. Confined to
 * the writer thread.
 */
final class LoggedRecord {
    private static final CacheResult[] CACHE_RESULTS = CacheResult.values();

    private final byte[] bytes;
    private final int[] textStarts = new int[LogField.COUNT];
    private final int[] textLengths = new int[LogField.COUNT];
    private final boolean[] truncated = new boolean[LogField.COUNT];
    private int start;
    private int flags;

    LoggedRecord(byte[] ringBytes) {
        this.bytes = ringBytes;
    }

    void wrap(int index) {
        start = index;
        flags = (int) INTS.get(bytes, index + AccessLogRecord.FLAGS_OFFSET);
        for (int i = 0; i < LogField.COUNT; i++) {
            textLengths[i] = -1;
            truncated[i] = false;
        }
        int position = index + AccessLogRecord.TEXTS_OFFSET;
        int end = position + (int) INTS.get(bytes, index + AccessLogRecord.TEXTS_LENGTH_OFFSET);
        while (position < end) {
            int head = (int) INTS.get(bytes, position);
            int length = (int) INTS.get(bytes, position + Integer.BYTES);
            int field = head & AccessLogRecord.TEXT_FIELD_MASK;
            textStarts[field] = position + AccessLogRecord.TEXT_HEAD_LENGTH;
            textLengths[field] = length;
            truncated[field] = (head & AccessLogRecord.TEXT_TRUNCATED) != 0;
            position = AccessLogRecord.align(textStarts[field] + length, Integer.BYTES);
        }
    }

    byte[] bytes() {
        return bytes;
    }

    long receivedAtMillis() {
        return (long) LONGS.get(bytes, start + AccessLogRecord.RECEIVED_AT_OFFSET);
    }

    long durationNanos() {
        return (long) LONGS.get(bytes, start + AccessLogRecord.DURATION_OFFSET);
    }

    long receivedBytes() {
        return (long) LONGS.get(bytes, start + AccessLogRecord.RECEIVED_BYTES_OFFSET);
    }

    long bodyBytes() {
        return (long) LONGS.get(bytes, start + AccessLogRecord.BODY_BYTES_OFFSET);
    }

    long headBytes() {
        return (long) LONGS.get(bytes, start + AccessLogRecord.HEAD_BYTES_OFFSET);
    }

    int status() {
        return (int) INTS.get(bytes, start + AccessLogRecord.STATUS_OFFSET);
    }

    int originStatus() {
        return (int) INTS.get(bytes, start + AccessLogRecord.ORIGIN_STATUS_OFFSET);
    }

    int clientStart() {
        return start + AccessLogRecord.CLIENT_OFFSET;
    }

    int clientLength() {
        return (int) INTS.get(bytes, start + AccessLogRecord.CLIENT_LENGTH_OFFSET);
    }

    int majorVersion() {
        return flags >>> AccessLogRecord.VERSION_SHIFT >> 1;
    }

    int minorVersion() {
        return flags >>> AccessLogRecord.VERSION_SHIFT & 1;
    }

    /** Major version of the origin's response; 0 if unknown. */
    int originMajorVersion() {
        return (flags >>> AccessLogRecord.ORIGIN_VERSION_SHIFT & AccessLogRecord.VERSION_MASK) >> 1;
    }

    int originMinorVersion() {
        return flags >>> AccessLogRecord.ORIGIN_VERSION_SHIFT & 1;
    }

    boolean isFromRam() {
        return (flags & AccessLogRecord.FLAG_RAM) != 0;
    }

    boolean isCollapsed() {
        return (flags & AccessLogRecord.FLAG_COLLAPSED) != 0;
    }

    boolean isSecure() {
        return (flags & AccessLogRecord.FLAG_SECURE) != 0;
    }

    boolean isNotModified() {
        return (flags & AccessLogRecord.FLAG_NOT_MODIFIED) != 0;
    }

    CacheResult cacheResult() {
        return CACHE_RESULTS[flags >>> AccessLogRecord.RESULT_SHIFT & AccessLogRecord.BYTE_MASK];
    }

    LogOutcome outcome() {
        return LogOutcome.ofIndex(flags >>> AccessLogRecord.OUTCOME_SHIFT & AccessLogRecord.BYTE_MASK);
    }

    LogHierarchy hierarchy() {
        return LogHierarchy.ofIndex(flags >>> AccessLogRecord.HIERARCHY_SHIFT & AccessLogRecord.HIERARCHY_MASK);
    }

    /** Returns the position of the text in {@link #bytes}. */
    int textStart(LogField field) {
        return textStarts[field.index()];
    }

    /** Returns the length of the text; -1 if it is absent. */
    int textLength(LogField field) {
        return textLengths[field.index()];
    }

    boolean isTruncated(LogField field) {
        return truncated[field.index()];
    }
}
