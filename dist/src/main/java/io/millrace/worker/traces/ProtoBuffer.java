package io.millrace.worker.traces;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * A growing array for messages in the format of Protocol Buffers. Messages are written forwards; {@link #endMessage}
 * inserts their lengths in the shortest form. Confined to one thread.
 */
final class ProtoBuffer {
    /** Types of fields: the low three bits of a tag. */
    static final int VARINT = 0;

    static final int FIXED64 = 1;
    static final int LENGTH = 2;
    static final int FIXED32 = 5;

    private static final VarHandle BIG_LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
    private static final VarHandle LITTLE_LONGS =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LITTLE_INTS =
            MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    /** The highest bits of eight bytes. The bit is set in characters that need two bytes in UTF-8. */
    private static final long HIGH_BITS = 0x8080808080808080L;

    private static final int VARINT_LOW = 0x7f;
    private static final int VARINT_MORE = 0x80;
    private static final int VARINT_SHIFT = 7;
    private static final int VARINT_MAX = 10;
    /** Bytes that {@link #beginMessage} reserves for the length: enough for messages of 128 to 16,383 bytes. */
    private static final int RESERVED = 2;

    private byte[] bytes;
    private int end;

    ProtoBuffer(int capacity) {
        bytes = new byte[capacity];
    }

    /** The array, whose first {@link #end} bytes are in use. Valid until the next byte is written. */
    byte[] bytes() {
        return bytes;
    }

    int end() {
        return end;
    }

    /** Removes all bytes from a position on, or skips bytes up to it. */
    void moveTo(int position) {
        reserve(position - end);
        end = position;
    }

    private void reserve(int more) {
        if (more > bytes.length - end) {
            bytes = Arrays.copyOf(bytes, Math.max(end + more, bytes.length + (bytes.length >> 1)));
        }
    }

    /** Returns a tag. */
    static int tag(int field, int type) {
        return field << 3 | type;
    }

    /** Writes a number of 64 bits, without a sign. */
    void varint(long value) {
        reserve(VARINT_MAX);
        long rest = value;
        while ((rest & ~VARINT_LOW) != 0) {
            bytes[end++] = (byte) ((rest & VARINT_LOW) | VARINT_MORE);
            rest >>>= VARINT_SHIFT;
        }
        bytes[end++] = (byte) rest;
    }

    static int varintLength(long value) {
        // 1 for 0 to 7 bits, 2 for 8 to 14 bits, and so on.
        return (Long.SIZE - Long.numberOfLeadingZeros(value | 1) + VARINT_SHIFT - 1) / VARINT_SHIFT;
    }

    void fixed64(int field, long value) {
        varint(tag(field, FIXED64));
        reserve(Long.BYTES);
        LITTLE_LONGS.set(bytes, end, value);
        end += Long.BYTES;
    }

    void fixed32(int field, int value) {
        varint(tag(field, FIXED32));
        reserve(Integer.BYTES);
        LITTLE_INTS.set(bytes, end, value);
        end += Integer.BYTES;
    }

    /** Writes an id of 8 bytes. */
    void id(int field, long id) {
        varint(tag(field, LENGTH));
        varint(Long.BYTES);
        bigLong(id);
    }

    /** Writes an id of 16 bytes. */
    void id(int field, long high, long low) {
        varint(tag(field, LENGTH));
        varint(2 * Long.BYTES);
        bigLong(high);
        bigLong(low);
    }

    private void bigLong(long value) {
        reserve(Long.BYTES);
        BIG_LONGS.set(bytes, end, value);
        end += Long.BYTES;
    }

    /** Begins a message. Returns its position for {@link #endMessage}. */
    int beginMessage(int field) {
        varint(tag(field, LENGTH));
        reserve(RESERVED);
        end += RESERVED;
        return end;
    }

    /**
     * Ends a message, and writes its length before it. Moves the message if its length needs more or fewer bytes than
     * were reserved.
     */
    void endMessage(int position) {
        int length = end - position;
        int needed = varintLength(length);
        if (needed != RESERVED) {
            reserve(Math.max(0, needed - RESERVED));
            System.arraycopy(bytes, position, bytes, position - RESERVED + needed, length);
        }
        end = position - RESERVED;
        varint(length);
        end += length;
    }

    /** Writes bytes as they are. */
    void raw(byte[] source) {
        raw(source, 0, source.length);
    }

    private void raw(byte[] source, int from, int length) {
        reserve(length);
        System.arraycopy(source, from, bytes, end, length);
        end += length;
    }

    /** Writes a text of one byte per character, in UTF-8. {@code utf8Length} is the result of {@link #utf8Length}. */
    void text(int field, byte[] latin1, int from, int length, int utf8Length) {
        varint(tag(field, LENGTH));
        varint(utf8Length);
        if (utf8Length == length) {
            raw(latin1, from, length);
            return;
        }
        reserve(utf8Length);
        for (int i = from; i < from + length; i++) {
            int c = latin1[i] & 0xff;
            if (c < 0x80) {
                bytes[end++] = (byte) c;
            } else {
                bytes[end++] = (byte) (0xc0 | (c >> 6));
                bytes[end++] = (byte) (0x80 | (c & 0x3f));
            }
        }
    }

    /** Returns the length in UTF-8 of a text of one byte per character. */
    static int utf8Length(byte[] latin1, int from, int length) {
        int utf8 = length;
        int i = from;
        for (int last = from + length - Long.BYTES; i <= last; i += Long.BYTES) {
            utf8 += Long.bitCount((long) LITTLE_LONGS.get(latin1, i) & HIGH_BITS);
        }
        for (; i < from + length; i++) {
            utf8 += latin1[i] < 0 ? 1 : 0;
        }
        return utf8;
    }
}
