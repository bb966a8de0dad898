package io.millrace.proxy.observe.log;

import io.millrace.proxy.observe.CacheResult;
import io.netty.buffer.ByteBuf;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * One request's entry for the access log, written in place into an {@link AccessLogRing}. What is not set stays absent
 * and is logged as {@code -}. Nothing here allocates or formats.
 *
 * <pre>
 *    0        4        8                 16
 *   +--------+--------+-----------------+
 *   | length | flags  | received at, ms |   length: of the record, a multiple of eight
 *   +--------+--------+-----------------+
 *   | duration, ns    | body bytes      |   bytes of the response's body and
 *   +-----------------+--------+--------+   of its head sent to the client
 *   | head bytes      | status | client |   client: length of the address, 0, 4 or 16
 *   +-----------------+--------+--------+
 *   | client address, 16 bytes          |
 *   +--------+--------+--------+--------+
 *   | texts  | origin | tunnel bytes    |   texts: bytes taken by the texts, without the
 *   +--------+--------+-----------------+   padding; origin: its status; tunnel bytes: received from the client;
 *   | field  | length | bytes of the ...    then any number of texts, each at a multiple of four
 *   +-------- - - -
 * </pre>
 *
 * <p>In a text's first int the low byte is the field and the sign bit says that it was cut. Confined to one event loop,
 * between {@link AccessLogRing#claim} and {@link AccessLogRing#publish}.
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
    static final int ORIGIN_STATUS_OFFSET = 68;
    static final int RECEIVED_BYTES_OFFSET = 72;
    static final int TEXTS_OFFSET = 80;

    static final int TEXT_HEAD_LENGTH = 8;
    static final int TEXT_TRUNCATED = Integer.MIN_VALUE;
    static final int TEXT_FIELD_MASK = 0xff;

    static final int FLAG_RAM = 1;
    static final int FLAG_COLLAPSED = 1 << 1;
    static final int FLAG_NOT_MODIFIED = 1 << 2;
    static final int FLAG_SECURE = 1 << 3;

    /** Four bits: the version of the origin's response, as that of the request below. */
    static final int ORIGIN_VERSION_SHIFT = 4;

    static final int VERSION_MASK = 0xf;
    static final int BYTE_MASK = 0xff;
    static final int RESULT_SHIFT = 8;
    static final int OUTCOME_SHIFT = 16;
    static final int HIERARCHY_SHIFT = 24;
    static final int HIERARCHY_MASK = 0xf;

    /** Four bits: major version times two plus minor version; 0 while unknown. */
    static final int VERSION_SHIFT = 28;

    /** The longest record: every text at its greatest length. */
    static final int MAX_LENGTH = align(
            TEXTS_OFFSET + LogField.COUNT * (TEXT_HEAD_LENGTH + Integer.BYTES) + LogField.maxBytesOfAll(), Long.BYTES);

    private final byte[] bytes;
    private int start;
    private int end;
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

    void begin(int index) {
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

    /** Completes the record in place and returns its length. */
    int end() {
        closeText();
        int length = align(end - start, Long.BYTES);
        INTS.set(bytes, start + LENGTH_OFFSET, length);
        INTS.set(bytes, start + FLAGS_OFFSET, flags);
        INTS.set(bytes, start + TEXTS_LENGTH_OFFSET, end - start - TEXTS_OFFSET);
        return length;
    }

    /** When the first byte of the request arrived, in milliseconds since 1970. */
    public AccessLogRecord receivedAtMillis(long epochMillis) {
        LONGS.set(bytes, start + RECEIVED_AT_OFFSET, epochMillis);
        return this;
    }

    /** From the first byte of the request to the last byte of the response. */
    public AccessLogRecord durationNanos(long nanos) {
        LONGS.set(bytes, start + DURATION_OFFSET, nanos);
        return this;
    }

    /** The client's address: 4 or 16 bytes in network order. Any other length counts as unknown. */
    public AccessLogRecord client(byte[] address, int offset, int length) {
        int kept = length == 4 || length == CLIENT_LENGTH_MAX ? length : 0;
        System.arraycopy(address, offset, bytes, start + CLIENT_OFFSET, kept);
        INTS.set(bytes, start + CLIENT_LENGTH_OFFSET, kept);
        return this;
    }

    /** The final status sent to the client; 0 when none was. */
    public AccessLogRecord status(int status) {
        INTS.set(bytes, start + STATUS_OFFSET, status);
        return this;
    }

    /** The status of the origin's response; 0 when there was none. */
    public AccessLogRecord originStatus(int status) {
        INTS.set(bytes, start + ORIGIN_STATUS_OFFSET, status);
        return this;
    }

    /** Bytes of the response sent to the client: its head, framing included, and its body. */
    public AccessLogRecord sentBytes(long headBytes, long bodyBytes) {
        LONGS.set(bytes, start + HEAD_BYTES_OFFSET, headBytes);
        LONGS.set(bytes, start + BODY_BYTES_OFFSET, bodyBytes);
        return this;
    }

    /** Bytes that came from the client in a tunnel. */
    public AccessLogRecord receivedBytes(long tunnelBytes) {
        LONGS.set(bytes, start + RECEIVED_BYTES_OFFSET, tunnelBytes);
        return this;
    }

    /** The version of the request: 1 and 0, 1 and 1, 2 and 0, 3 and 0. */
    public AccessLogRecord version(int major, int minor) {
        flags |= (major * 2 + minor) << VERSION_SHIFT;
        return this;
    }

    /** The version of the origin's response, as {@link #version}; not called where there was none. */
    public AccessLogRecord originVersion(int major, int minor) {
        flags |= (major * 2 + minor) << ORIGIN_VERSION_SHIFT;
        return this;
    }

    /** What the cache did; {@link CacheResult#NONE} when this is not called. */
    @SuppressWarnings("EnumOrdinal") // read back by LoggedRecord in the same process
    public AccessLogRecord cache(CacheResult result) {
        flags = (flags & ~(BYTE_MASK << RESULT_SHIFT)) | (result.ordinal() << RESULT_SHIFT);
        return this;
    }

    /** Says that the stored response came from RAM. */
    public AccessLogRecord fromRam() {
        flags |= FLAG_RAM;
        return this;
    }

    /** Says that the response came from another request's fill. */
    public AccessLogRecord collapsed() {
        flags |= FLAG_COLLAPSED;
        return this;
    }

    /** Says that the proxy answered the client's condition with a 304 of its own. */
    public AccessLogRecord notModified() {
        flags |= FLAG_NOT_MODIFIED;
        return this;
    }

    /** Says that the client's connection has TLS. */
    public AccessLogRecord secure() {
        flags |= FLAG_SECURE;
        return this;
    }

    /** How the request ended; {@link LogOutcome#OK} when this is not called. */
    public AccessLogRecord outcome(LogOutcome outcome) {
        flags = (flags & ~(BYTE_MASK << OUTCOME_SHIFT)) | (outcome.index() << OUTCOME_SHIFT);
        return this;
    }

    /** Where the response was fetched; {@link LogHierarchy#NONE} when this is not called. */
    public AccessLogRecord hierarchy(LogHierarchy hierarchy) {
        flags = (flags & ~(HIERARCHY_MASK << HIERARCHY_SHIFT)) | (hierarchy.index() << HIERARCHY_SHIFT);
        return this;
    }

    /** Sets one text from bytes, which are copied up to the field's greatest length. */
    public AccessLogRecord text(LogField field, byte[] source, int offset, int length) {
        return open(field).append(source, offset, length);
    }

    /** Sets one text from a buffer's bytes, which are copied; borrows the buffer and moves no index. */
    public AccessLogRecord text(LogField field, ByteBuf source, int index, int length) {
        return open(field).append(source, index, length);
    }

    /** Sets one text from characters, one byte each; those above U+00FF become question marks. Null leaves it absent. */
    public AccessLogRecord text(LogField field, @Nullable CharSequence source) {
        return source == null ? this : open(field).append(source);
    }

    /** Begins a text that is put together by {@code append}; ends the one before. A field is set once in a record. */
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

    /** Appends bytes to the open text. */
    public AccessLogRecord append(byte[] source, int offset, int length) {
        int kept = reserve(length);
        System.arraycopy(source, offset, bytes, end, kept);
        end += kept;
        return this;
    }

    /** Appends a buffer's bytes to the open text; borrows the buffer and moves no index. */
    public AccessLogRecord append(ByteBuf source, int index, int length) {
        int kept = reserve(length);
        source.getBytes(index, bytes, end, kept);
        end += kept;
        return this;
    }

    /** Appends characters to the open text, one byte each; those above U+00FF become question marks. */
    public AccessLogRecord append(CharSequence source) {
        int kept = reserve(source.length());
        for (int i = 0; i < kept; i++) {
            char c = source.charAt(i);
            bytes[end++] = c > BYTE_MASK ? (byte) '?' : (byte) c;
        }
        return this;
    }

    /** Appends a number that is not negative, in decimal, to the open text. */
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
            throw new IllegalStateException("no text is open");
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
