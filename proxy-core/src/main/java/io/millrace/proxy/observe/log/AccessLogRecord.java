package io.millrace.proxy.observe.log;

import io.millrace.proxy.observe.CacheResult;
import io.netty.buffer.ByteBuf;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * The access log record of one request, written directly into an {@link AccessLogRing}. A text that is not set is
 * logged as {@code -}, or omitted in JSON. No method allocates.
 *
 * <pre>
 *    0        4        8                 16
 *   +--------+--------+-----------------+
 *   | length | flags  | received at, ms |
 *   +--------+--------+-----------------+
 *   | duration, ns    | body bytes      |
 *   +-----------------+--------+--------+
 *   | head bytes      | status | client |
 *   +-----------------+--------+--------+
 *   | client address, 16 bytes          |
 *   +--------+--------+--------+--------+
 *   | texts  | origin | tunnel bytes    |
 *   +--------+--------+-----------------+
 *   | first byte, ns  |
 *   +--------+--------+ - - - - - - - -
 *   | field  | length | bytes of the ...    any number of texts, each at a multiple of four
 *   +-------- - - -
 *
 *   length        bytes of the record, a multiple of eight
 *   body bytes    bytes of the response's body that were sent to the client
 *   head bytes    bytes of the response's head that were sent to the client
 *   client        length of the client's address: 0, 4 or 16
 *   texts         bytes used by the texts, without the padding after the last text
 *   origin        status of the origin's response, and the generation: see ORIGIN_STATUS_OFFSET
 *   tunnel bytes  bytes received from the client in a tunnel
 *   first byte    time from the request's first byte to the response's first byte; 0 if not measured
 * </pre>
 *
 * <p>In the first int of a text, the low byte is the field and the sign bit marks a truncated text. Confined to one
 * event loop, between {@link AccessLogRing#claim} and {@link AccessLogRing#publish}.
 */
public final class AccessLogRecord {
    static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.nativeOrder());
    static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());

    static final int LENGTH_OFFSET = 0;
    static final int FLAGS_OFFSET = 4;
    static final int RECEIVED_AT_OFFSET = 8;
    static final int DURATION_OFFSET = 16;
    static final int BODY_BYTES_OFFSET = 24;
    static final int HEAD_BYTES_OFFSET = 32;
    static final int STATUS_OFFSET = 40;
    static final int CLIENT_LENGTH_OFFSET = 44;
    static final int CLIENT_OFFSET = 48;
    static final int CLIENT_LENGTH_MAX = 16;
    static final int TEXTS_LENGTH_OFFSET = 64;
    /**
     * Offset of two values. Low 16 bits: the status of the origin's response. High 16 bits: the generation of the
     * captured header fields, modulo 65,536; see {@link #begin}.
     */
    static final int ORIGIN_STATUS_OFFSET = 68;

    static final int ORIGIN_STATUS_MASK = 0xffff;
    static final int GENERATION_SHIFT = 16;
    static final int RECEIVED_BYTES_OFFSET = 72;
    static final int FIRST_BYTE_OFFSET = 80;
    static final int TEXTS_OFFSET = 88;

    static final int TEXT_HEAD_LENGTH = 8;
    static final int TEXT_TRUNCATED = Integer.MIN_VALUE;
    static final int TEXT_FIELD_MASK = 0xff;

    static final int FLAG_RAM = 1;
    static final int FLAG_COLLAPSED = 1 << 1;
    static final int FLAG_NOT_MODIFIED = 1 << 2;
    static final int FLAG_SECURE = 1 << 3;

    /** Shift of the four bits for the HTTP version of the origin's response, encoded like {@link #VERSION_SHIFT}. */
    static final int ORIGIN_VERSION_SHIFT = 4;

    static final int VERSION_MASK = 0xf;
    static final int BYTE_MASK = 0xff;
    static final int RESULT_SHIFT = 8;
    static final int OUTCOME_SHIFT = 16;
    static final int HIERARCHY_SHIFT = 24;
    static final int HIERARCHY_MASK = 0xf;

    /**
     * Shift of the four bits for the HTTP version of the request. Their value is major version times two plus
     * minor version; 0 if unknown.
     */
    static final int VERSION_SHIFT = 28;

    /** Length of the longest record, in which all texts have their maximum length. */
    static final int MAX_LENGTH = align(
            TEXTS_OFFSET + LogField.COUNT * (TEXT_HEAD_LENGTH + Integer.BYTES) + LogField.maxBytesOfAll(), Long.BYTES);

    private final byte[] bytes;
    private int start;
    private int end;
    private int generation;
    private int flags;
    private int fieldsSeen;
    private @Nullable LogField openField;
    private int textStart;
    private int textLimit;
    private boolean isTruncated;

    AccessLogRecord(byte[] ringBytes) {
        this.bytes = ringBytes;
    }

    static int align(int length, int unit) {
        return (length + unit - 1) & -unit;
    }

    /**
     * Begins the next record.
     *
     * @param ofGeneration number that changes when {@link AccessLogRing} captures other header fields; only 16 bits are
     *     kept
     */
    void begin(int index, int ofGeneration) {
        generation = ofGeneration;
        start = index;
        end = index + TEXTS_OFFSET;
        flags = 0;
        cache(CacheResult.NONE);
        fieldsSeen = 0;
        openField = null;
        for (int offset = RECEIVED_AT_OFFSET; offset < TEXTS_OFFSET; offset += Long.BYTES) {
            LONGS.set(bytes, index + offset, 0L);
        }
    }

    /** Completes the record in place. Returns its length. */
    int end() {
        closeText();
        int length = align(end - start, Long.BYTES);
        INTS.set(bytes, start + LENGTH_OFFSET, length);
        INTS.set(bytes, start + FLAGS_OFFSET, flags);
        int originStatus = (int) INTS.get(bytes, start + ORIGIN_STATUS_OFFSET) & ORIGIN_STATUS_MASK;
        INTS.set(bytes, start + ORIGIN_STATUS_OFFSET, (generation << GENERATION_SHIFT) | originStatus);
        INTS.set(bytes, start + TEXTS_LENGTH_OFFSET, end - start - TEXTS_OFFSET);
        return length;
    }

    /** Sets the time when the first byte of the request arrived, in epoch milliseconds. */
    public AccessLogRecord receivedAtMillis(long epochMillis) {
        LONGS.set(bytes, start + RECEIVED_AT_OFFSET, epochMillis);
        return this;
    }

    /** Sets the time from the first byte of the request to the last byte of the response. */
    public AccessLogRecord durationNanos(long nanos) {
        LONGS.set(bytes, start + DURATION_OFFSET, nanos);
        return this;
    }

    /** Sets the time from the first byte of the request to the first byte of the response; 0 if not measured. */
    public AccessLogRecord firstByteNanos(long nanos) {
        LONGS.set(bytes, start + FIRST_BYTE_OFFSET, nanos);
        return this;
    }

    /** Sets the client's address: 4 or 16 bytes in network order. Any other length means unknown. */
    public AccessLogRecord client(byte[] address, int offset, int length) {
        int kept = length == 4 || length == CLIENT_LENGTH_MAX ? length : 0;
        System.arraycopy(address, offset, bytes, start + CLIENT_OFFSET, kept);
        INTS.set(bytes, start + CLIENT_LENGTH_OFFSET, kept);
        return this;
    }

    /** Sets the final status sent to the client; 0 if none was sent. */
    public AccessLogRecord status(int status) {
        INTS.set(bytes, start + STATUS_OFFSET, status);
        return this;
    }

    /** Sets the status of the origin's response; 0 if there was none. */
    public AccessLogRecord originStatus(int status) {
        INTS.set(bytes, start + ORIGIN_STATUS_OFFSET, status);
        return this;
    }

    /** Sets the number of bytes sent to the client: the response head including framing, and the body. */
    public AccessLogRecord sentBytes(long headBytes, long bodyBytes) {
        LONGS.set(bytes, start + HEAD_BYTES_OFFSET, headBytes);
        LONGS.set(bytes, start + BODY_BYTES_OFFSET, bodyBytes);
        return this;
    }

    /** Sets the number of bytes received from the client in a tunnel. */
    public AccessLogRecord receivedBytes(long tunnelBytes) {
        LONGS.set(bytes, start + RECEIVED_BYTES_OFFSET, tunnelBytes);
        return this;
    }

    /** Sets the HTTP version of the request: 1.0, 1.1, 2.0 or 3.0. */
    public AccessLogRecord version(int major, int minor) {
        flags |= (major * 2 + minor) << VERSION_SHIFT;
        return this;
    }

    /** Sets the HTTP version of the origin's response. Not called if there was no response. */
    public AccessLogRecord originVersion(int major, int minor) {
        flags |= (major * 2 + minor) << ORIGIN_VERSION_SHIFT;
        return this;
    }

    /** Sets the cache result; {@link CacheResult#NONE} by default. */
    @SuppressWarnings("EnumOrdinal") // decoded by LoggedRecord in the same process
    public AccessLogRecord cache(CacheResult result) {
        flags = (flags & ~(BYTE_MASK << RESULT_SHIFT)) | (result.ordinal() << RESULT_SHIFT);
        return this;
    }

    /** Records that the stored response was read from RAM. */
    public AccessLogRecord fromRam() {
        flags |= FLAG_RAM;
        return this;
    }

    /** Records that the request was collapsed: its response comes from the fetch of another request. */
    public AccessLogRecord collapsed() {
        flags |= FLAG_COLLAPSED;
        return this;
    }

    /** Records that the proxy itself answered a conditional request with 304. */
    public AccessLogRecord notModified() {
        flags |= FLAG_NOT_MODIFIED;
        return this;
    }

    /** Records that the client's connection uses TLS. */
    public AccessLogRecord secure() {
        flags |= FLAG_SECURE;
        return this;
    }

    /** Sets the outcome of the request; {@link LogOutcome#OK} by default. */
    public AccessLogRecord outcome(LogOutcome outcome) {
        flags = (flags & ~(BYTE_MASK << OUTCOME_SHIFT)) | (outcome.index() << OUTCOME_SHIFT);
        return this;
    }

    /** Sets the source of a fetched response; {@link LogHierarchy#NONE} by default. */
    public AccessLogRecord hierarchy(LogHierarchy hierarchy) {
        flags = (flags & ~(HIERARCHY_MASK << HIERARCHY_SHIFT)) | (hierarchy.index() << HIERARCHY_SHIFT);
        return this;
    }

    /** Sets a text from bytes. Copies them, up to the maximum length of the field. */
    public AccessLogRecord text(LogField field, byte[] source, int offset, int length) {
        return open(field).append(source, offset, length);
    }

    /** Sets a text from a buffer. Copies the bytes; the buffer is borrowed and its indices are unchanged. */
    public AccessLogRecord text(LogField field, ByteBuf source, int index, int length) {
        return open(field).append(source, index, length);
    }

    /**
     * Sets a text from characters, one byte each. Characters above U+00FF become question marks. Null leaves the text
     * absent.
     */
    public AccessLogRecord text(LogField field, @Nullable CharSequence source) {
        return source == null ? this : open(field).append(source);
    }

    /**
     * Begins a text and ends the previous one. {@code append} then adds to the text. Each field may be set once
     * per record.
     */
    public AccessLogRecord open(LogField field) {
        closeText();
        int bit = 1 << field.index();
        assert (fieldsSeen & bit) == 0 : field + " is set already";
        fieldsSeen |= bit;
        openField = field;
        isTruncated = false;
        textStart = align(end, Integer.BYTES) + TEXT_HEAD_LENGTH;
        textLimit = textStart + field.maxBytes();
        end = textStart;
        return this;
    }

    /** Appends bytes to the current text. */
    public AccessLogRecord append(byte[] source, int offset, int length) {
        int kept = reserve(length);
        System.arraycopy(source, offset, bytes, end, kept);
        end += kept;
        return this;
    }

    /** Appends bytes of a buffer to the current text. The buffer is borrowed and its indices are unchanged. */
    public AccessLogRecord append(ByteBuf source, int index, int length) {
        int kept = reserve(length);
        source.getBytes(index, bytes, end, kept);
        end += kept;
        return this;
    }

    /** Appends characters to the current text, one byte each. Characters above U+00FF become question marks. */
    public AccessLogRecord append(CharSequence source) {
        int kept = reserve(source.length());
        for (int i = 0; i < kept; i++) {
            char c = source.charAt(i);
            bytes[end++] = c > BYTE_MASK ? (byte) '?' : (byte) c;
        }
        return this;
    }

    /** Appends the eight bytes of a number in native order to the current text, which only this process reads. */
    public AccessLogRecord appendRaw(long number) {
        if (reserve(Long.BYTES) == Long.BYTES) {
            LONGS.set(bytes, end, number);
            end += Long.BYTES;
        }
        return this;
    }

    /** Appends a non-negative number in decimal to the current text. */
    public AccessLogRecord append(int number) {
        int divisor = 1;
        while (number / divisor >= 10) {
            divisor *= 10;
        }
        for (int rest = number; divisor > 0; divisor /= 10) {
            if (reserve(1) == 1) {
                bytes[end++] = (byte) ('0' + rest / divisor);
            }
            rest %= divisor;
        }
        return this;
    }

    private int reserve(int length) {
        if (openField == null) {
            throw new IllegalStateException("append() was called before open()");
        }
        int kept = Math.min(length, textLimit - end);
        isTruncated |= kept < length;
        return kept;
    }

    private void closeText() {
        LogField field = openField;
        if (field == null) {
            return;
        }
        int head = field.index() | (isTruncated ? TEXT_TRUNCATED : 0);
        INTS.set(bytes, textStart - TEXT_HEAD_LENGTH, head);
        INTS.set(bytes, textStart - Integer.BYTES, end - textStart);
        openField = null;
    }
}
