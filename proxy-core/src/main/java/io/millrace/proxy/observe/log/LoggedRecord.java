package io.millrace.proxy.observe.log;

import static io.millrace.proxy.observe.log.AccessLogRecord.INTS;
import static io.millrace.proxy.observe.log.AccessLogRecord.LONGS;

import io.millrace.proxy.observe.CacheResult;
import io.netty.util.NetUtil;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A read-only view of a published record in an {@link AccessLogRing}. Valid until {@link AccessLogRing.Reader#read}
 * returns. Confined to the log thread that drains the ring.
 */
public final class LoggedRecord {
    private static final CacheResult[] CACHE_RESULTS = CacheResult.values();

    private final byte[] bytes;
    private final int[] textStarts = new int[LogField.COUNT];
    private final int[] textLengths = new int[LogField.COUNT];
    /** Only valid for texts that are present. */
    private final boolean[] truncated = new boolean[LogField.COUNT];

    private int start;
    private int flags;
    private int sampleRate = 1;
    /** Text for the client's address if the client uses a Unix socket. */
    static final String UNIX_CLIENT = "unix:";

    private boolean hidesClient;

    /** The format that copies records without change, for log targets that read them by {@link Copies}. */
    static final class CopyFormat implements LineFormat {
        @Override
        public void append(LoggedRecord logged, LineBuffer out) {
            out.putRow(logged.bytes, logged.start, logged.length());
        }

        @Override
        public int maxLineBytes() {
            return AccessLogRecord.MAX_LENGTH;
        }
    }

    /** Reads the records that {@link AccessLogFormat#copies} has appended to a buffer. Confined to one thread. */
    public static final class Copies {
        private final LoggedRecord view;
        private final int begin;
        private final int end;
        private int at;

        /** @param buffer has an array; borrowed, and its position is unchanged */
        public Copies(ByteBuffer buffer) {
            view = new LoggedRecord(buffer.array());
            begin = buffer.arrayOffset() + buffer.position();
            end = buffer.arrayOffset() + buffer.limit();
            at = begin;
        }

        /** The number of all records in the buffer. */
        public int size() {
            int count = 0;
            for (int index = begin; index < end; index += lengthAt(view.bytes, index)) {
                count++;
            }
            return count;
        }

        /** Returns the next record; null after the last. Always the same object. */
        public @Nullable LoggedRecord next() {
            if (at >= end) {
                return null;
            }
            view.wrap(at);
            at += view.length();
            return view;
        }
    }

    LoggedRecord(byte[] ringBytes) {
        this.bytes = ringBytes;
    }

    /** Makes this view show the record that begins at an index of the ring. */
    void wrap(int index) {
        start = index;
        flags = (int) INTS.get(bytes, index + AccessLogRecord.FLAGS_OFFSET);
        Arrays.fill(textLengths, -1);
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

    /**
     * Returns a view of a copied record. Unlike other views, this view stays valid.
     *
     * @param copy result of {@link #copy}; borrowed
     */
    public static LoggedRecord ofCopy(byte[] copy) {
        LoggedRecord view = new LoggedRecord(copy);
        view.wrap(0);
        return view;
    }

    /** Returns a view in which all values are absent. */
    public static LoggedRecord empty() {
        return ofCopy(new byte[AccessLogRecord.TEXTS_OFFSET]);
    }

    /** Returns a copy of the record, for {@link #ofCopy}. The caller owns it. */
    public byte[] copy() {
        return Arrays.copyOfRange(bytes, start, start + length());
    }

    private int length() {
        return lengthAt(bytes, start);
    }

    private static int lengthAt(byte[] bytes, int index) {
        return (int) INTS.get(bytes, index + AccessLogRecord.LENGTH_OFFSET);
    }

    /** Makes the values absent that identify the client: address, user and certificate. */
    public void hideClient() {
        hidesClient = true;
        textLengths[LogField.USER.index()] = -1;
        textLengths[LogField.TLS_CLIENT_SUBJECT.index()] = -1;
    }

    /** The array that contains the texts; borrowed, and must not be changed. */
    public byte[] bytes() {
        return bytes;
    }

    /**
     * Identifies the list of captured header fields that was in force when the record was written: the low 16 bits of
     * the number of the list. The list contains the fields that log templates name. See {@link
     * AccessLogRing#setOptionalTexts}.
     */
    int generation() {
        return (int) INTS.get(bytes, start + AccessLogRecord.ORIGIN_STATUS_OFFSET) >>> AccessLogRecord.GENERATION_SHIFT;
    }

    /** Makes the captured header fields absent, because the record was written with another list of them. */
    void clearHeaderFields() {
        for (LogField slot : LogTemplate.SLOTS) {
            textLengths[slot.index()] = -1;
        }
    }

    /**
     * Sets the sample rate N of a sampled log, which contains one of N records. The value stays until the next call.
     */
    public void sampleRate(int rate) {
        sampleRate = rate;
    }

    /** The sample rate N: the log contains one of N records; 1 if the log is not sampled. */
    int sampleRate() {
        return sampleRate;
    }

    /** Returns the result code of the {@code squid} format, such as {@code TCP_MISS}. */
    public String resultCode() {
        return SquidLines.code(this);
    }

    /** Returns a text as one character per byte; null if it is absent or empty. */
    public @Nullable String text(LogField field) {
        int length = textLengths[field.index()];
        return length <= 0 ? null : new String(bytes, textStarts[field.index()], length, StandardCharsets.ISO_8859_1);
    }

    /** Returns the bytes of a text, read-only; null if it is absent or empty. Valid as long as this view. */
    public @Nullable ByteBuffer textBytes(LogField field) {
        int length = textLengths[field.index()];
        return length <= 0
                ? null
                : ByteBuffer.wrap(bytes, textStarts[field.index()], length)
                        .slice()
                        .asReadOnlyBuffer();
    }

    /**
     * Returns a number that {@link AccessLogRecord#appendRaw} has written; 0 if it is absent.
     *
     * @param index position of the number in the text, in units of eight bytes
     */
    public long raw(LogField field, int index) {
        int at = index * Long.BYTES;
        return at + Long.BYTES > textLengths[field.index()]
                ? 0
                : (long) LONGS.get(bytes, textStarts[field.index()] + at);
    }

    /**
     * Returns the client's address in the format of RFC 5952; null if unknown. An IPv4-mapped address is written as
     * IPv4, and the peer of a Unix socket as {@code unix:}.
     */
    public @Nullable String clientText() {
        int length = clientLength();
        if (length == 0) {
            return null;
        }
        if (isUnixClient()) {
            return UNIX_CLIENT;
        }
        boolean mapped = length == AccessLogRecord.CLIENT_LENGTH_MAX && LineBuffer.isMapped(bytes, clientStart());
        return mapped
                ? NetUtil.bytesToIpAddress(bytes, clientStart() + LineBuffer.MAPPED_PREFIX_LENGTH, Integer.BYTES)
                : NetUtil.bytesToIpAddress(bytes, clientStart(), length);
    }

    /** Returns a copy of the client's address, 4 or 16 bytes; null if it is unknown or a Unix socket. */
    public byte @Nullable [] clientBytes() {
        int length = clientLength();
        return length == 0 || isUnixClient() ? null : Arrays.copyOfRange(bytes, clientStart(), clientStart() + length);
    }

    /** Returns a hash of the client's address, which is the same in every process. */
    public int clientHash() {
        return hash(clientStart(), clientLength());
    }

    /** Returns a hash of the URL, which is the same in every process. */
    public int urlHash() {
        return hash(textStarts[LogField.URL.index()], textLengths[LogField.URL.index()]);
    }

    /** FNV-1a with the final mix of MurmurHash3, so that the low bits depend on every byte. */
    private int hash(int from, int length) {
        int hash = 0x811c9dc5;
        for (int i = from; i < from + length; i++) {
            hash = (hash ^ (bytes[i] & AccessLogRecord.BYTE_MASK)) * 0x01000193;
        }
        hash = (hash ^ (hash >>> 16)) * 0x85ebca6b;
        hash = (hash ^ (hash >>> 13)) * 0xc2b2ae35;
        return hash ^ (hash >>> 16);
    }

    /** The arrival of the first byte of the request, in epoch milliseconds. */
    public long receivedAtMillis() {
        return (long) LONGS.get(bytes, start + AccessLogRecord.RECEIVED_AT_OFFSET);
    }

    /** The time from the first byte of the request to the last byte of the response. */
    public long durationNanos() {
        return (long) LONGS.get(bytes, start + AccessLogRecord.DURATION_OFFSET);
    }

    /** The time from the first byte of the request to the first byte of the response; 0 if not measured. */
    public long firstByteNanos() {
        return (long) LONGS.get(bytes, start + AccessLogRecord.FIRST_BYTE_OFFSET);
    }

    /** The number of bytes received from the client in a tunnel. */
    public long receivedBytes() {
        return (long) LONGS.get(bytes, start + AccessLogRecord.RECEIVED_BYTES_OFFSET);
    }

    /** The number of bytes of the body that were sent to the client. */
    public long bodyBytes() {
        return (long) LONGS.get(bytes, start + AccessLogRecord.BODY_BYTES_OFFSET);
    }

    /** The number of bytes of the head that were sent to the client. */
    public long headBytes() {
        return (long) LONGS.get(bytes, start + AccessLogRecord.HEAD_BYTES_OFFSET);
    }

    /** The final status; 0 if none was sent. */
    public int status() {
        return (int) INTS.get(bytes, start + AccessLogRecord.STATUS_OFFSET);
    }

    /** The status of the origin's response; 0 if there was none. */
    public int originStatus() {
        return (int) INTS.get(bytes, start + AccessLogRecord.ORIGIN_STATUS_OFFSET) & AccessLogRecord.ORIGIN_STATUS_MASK;
    }

    int clientStart() {
        return start + AccessLogRecord.CLIENT_OFFSET;
    }

    /** Returns true if the client is the peer of a Unix socket, whose address is 0.0.0.0. */
    boolean isUnixClient() {
        return clientLength() == Integer.BYTES && (int) INTS.get(bytes, clientStart()) == 0;
    }

    int clientLength() {
        return hidesClient ? 0 : (int) INTS.get(bytes, start + AccessLogRecord.CLIENT_LENGTH_OFFSET);
    }

    /** Major version of the request; 0 if unknown. */
    public int majorVersion() {
        return flags >>> AccessLogRecord.VERSION_SHIFT >> 1;
    }

    /** Minor version of the request. */
    public int minorVersion() {
        return flags >>> AccessLogRecord.VERSION_SHIFT & 1;
    }

    /** Major version of the origin's response; 0 if unknown. */
    public int originMajorVersion() {
        return (flags >>> AccessLogRecord.ORIGIN_VERSION_SHIFT & AccessLogRecord.VERSION_MASK) >> 1;
    }

    /** Minor version of the origin's response. */
    public int originMinorVersion() {
        return flags >>> AccessLogRecord.ORIGIN_VERSION_SHIFT & 1;
    }

    /** Returns true if the stored response was read from RAM. */
    public boolean isFromRam() {
        return (flags & AccessLogRecord.FLAG_RAM) != 0;
    }

    /** Returns true if the response came from another request's fetch. */
    public boolean isCollapsed() {
        return (flags & AccessLogRecord.FLAG_COLLAPSED) != 0;
    }

    /** Returns true if the client's connection has TLS. */
    public boolean isSecure() {
        return (flags & AccessLogRecord.FLAG_SECURE) != 0;
    }

    boolean isNotModified() {
        return (flags & AccessLogRecord.FLAG_NOT_MODIFIED) != 0;
    }

    /** The cache result. */
    public CacheResult cacheResult() {
        return CACHE_RESULTS[flags >>> AccessLogRecord.RESULT_SHIFT & AccessLogRecord.BYTE_MASK];
    }

    /** The outcome of the request. */
    public LogOutcome outcome() {
        return LogOutcome.ofIndex(flags >>> AccessLogRecord.OUTCOME_SHIFT & AccessLogRecord.BYTE_MASK);
    }

    LogHierarchy hierarchy() {
        return LogHierarchy.ofIndex(flags >>> AccessLogRecord.HIERARCHY_SHIFT & AccessLogRecord.HIERARCHY_MASK);
    }

    /** Returns the position of the text in {@link #bytes}. */
    public int textStart(LogField field) {
        return textStarts[field.index()];
    }

    /** Returns the length of the text; -1 if it is absent. */
    public int textLength(LogField field) {
        return textLengths[field.index()];
    }

    /** Returns true if the text was longer than the limit of the field. */
    public boolean isTruncated(LogField field) {
        return textLengths[field.index()] >= 0 && truncated[field.index()];
    }
}
