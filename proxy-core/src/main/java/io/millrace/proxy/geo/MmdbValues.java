package io.millrace.proxy.geo;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A section of values in a file of the MaxMind DB format. Each value begins with a control byte that contains its type
 * and size. Immutable and thread-safe.
 */
final class MmdbValues {
    // Types of values, as in the MaxMind DB specification.
    private static final int POINTER = 1;
    private static final int TEXT = 2;
    private static final int UINT16 = 5;
    private static final int UINT32 = 6;
    private static final int MAP = 7;
    private static final int UINT64 = 9;
    private static final int ARRAY = 11;
    private static final int BOOLEAN = 14;

    /** Limit of the depth of nested values. */
    private static final int DEPTH_MAX = 16;

    /** Limit of the members of a map or array, since a lookup on an event loop reads them one by one. */
    private static final int MEMBERS_MAX = 1024;

    /** Limit of the length of a text in bytes. */
    private static final int TEXT_MAX = 256;

    /** Position of a value that does not exist. */
    private static final int ABSENT = -1;

    private final ByteBuffer bytes;
    private final int start;
    private final int end;

    /**
     * @param start position of the section, to which pointers are relative
     * @param end position after the section
     */
    MmdbValues(ByteBuffer bytes, int start, int end) {
        this.bytes = bytes;
        this.start = start;
        this.end = end;
    }

    int end() {
        return end;
    }

    /**
     * A control byte with the bytes that belong to it.
     *
     * @param type one of the type constants of this class
     * @param size length of the value in bytes; for a map or array, the number of its members
     * @param next position after the control bytes, where the content of the value begins
     */
    private record Control(int type, int size, int next) {}

    /**
     * Returns the text at a path of keys through nested maps; null if there is none.
     *
     * @throws IndexOutOfBoundsException if the file is damaged
     */
    @Nullable
    String text(int map, String... keys) {
        int at = map;
        for (String key : keys) {
            at = member(at, key);
            if (at == ABSENT) {
                return null;
            }
        }
        Control value = resolved(at);
        if (value.type != TEXT || value.size > TEXT_MAX) {
            return null;
        }
        byte[] text = new byte[value.size];
        for (int i = 0; i < text.length; i++) {
            text[i] = byteAt(value.next + i);
        }
        return new String(text, StandardCharsets.UTF_8);
    }

    /**
     * Returns the unsigned number with a key; negative if there is none.
     *
     * @throws IndexOutOfBoundsException if the file is damaged
     */
    long number(int map, String key) {
        int at = member(map, key);
        if (at == ABSENT) {
            return -1;
        }
        Control value = resolved(at);
        boolean isNumber = value.type == UINT16 || value.type == UINT32 || value.type == UINT64;
        return isNumber && value.size < Long.BYTES ? unsigned(value.next, value.size) : -1;
    }

    /** Returns the position of the value with a key. */
    private int member(int map, String key) {
        Control control = resolved(map);
        if (control.type != MAP) {
            return ABSENT;
        }
        checkMembers(control, map);
        int at = control.next;
        for (int i = 0; i < control.size; i++) {
            boolean found = isText(resolved(at), key);
            at = skip(at, 0);
            if (found) {
                return at;
            }
            at = skip(at, 0);
        }
        return ABSENT;
    }

    private static void checkMembers(Control control, int at) {
        if (control.size > MEMBERS_MAX) {
            throw new IndexOutOfBoundsException(control.size + " members at " + at + ", limit=" + MEMBERS_MAX);
        }
    }

    private boolean isText(Control value, String key) {
        if (value.type != TEXT || value.size != key.length()) {
            return false;
        }
        for (int i = 0; i < value.size; i++) {
            if (byteAt(value.next + i) != key.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    /** Returns the position after a value. */
    private int skip(int at, int depth) {
        if (depth > DEPTH_MAX) {
            throw new IndexOutOfBoundsException("values at " + at + " are nested too deeply, limit=" + DEPTH_MAX);
        }
        Control control = control(at);
        int next = control.next;
        switch (control.type) {
            case POINTER, BOOLEAN -> {
                return next;
            }
            case MAP, ARRAY -> {
                checkMembers(control, at);
                int members = control.type == MAP ? 2 * control.size : control.size;
                for (int i = 0; i < members; i++) {
                    next = skip(next, depth + 1);
                }
                return next;
            }
            default -> {
                return next + control.size;
            }
        }
    }

    /** Returns the control byte of a value, or of the value to which a pointer leads. */
    private Control resolved(int at) {
        Control control = control(at);
        if (control.type != POINTER) {
            return control;
        }
        Control target = control((int) Math.min(end, start + pointer(at)));
        if (target.type == POINTER) {
            throw new IndexOutOfBoundsException("pointer to a pointer at " + at);
        }
        return target;
    }

    private Control control(int at) {
        int first = byteAt(at) & 0xff;
        int type = first >> 5;
        int next = at + 1;
        if (type == POINTER) {
            return new Control(type, 0, next + (first >> 3 & 3) + 1);
        }
        if (type == 0) {
            // An extended type: the next byte contains the type minus 7.
            type = 7 + (byteAt(next) & 0xff);
            next++;
        }
        // Sizes from 29 on are in 1 to 3 further bytes, with the offsets of the MaxMind DB specification.
        int size = first & 0x1f;
        switch (size) {
            case 29 -> {
                size = 29 + (int) unsigned(next, 1);
                next += 1;
            }
            case 30 -> {
                size = 285 + (int) unsigned(next, 2);
                next += 2;
            }
            case 31 -> {
                size = 65_821 + (int) unsigned(next, 3);
                next += 3;
            }
            default -> {}
        }
        return new Control(type, size, next);
    }

    /** Returns the position, in the section, to which a pointer leads. */
    private long pointer(int at) {
        int first = byteAt(at);
        int low = first & 7;
        return switch (first >> 3 & 3) {
            case 0 -> (long) low << 8 | unsigned(at + 1, 1);
            case 1 -> ((long) low << 16 | unsigned(at + 1, 2)) + 2048;
            case 2 -> ((long) low << 24 | unsigned(at + 1, 3)) + 526_336;
            default -> unsigned(at + 1, 4);
        };
    }

    private long unsigned(int at, int length) {
        long number = 0;
        for (int i = 0; i < length; i++) {
            number = number << Byte.SIZE | (byteAt(at + i) & 0xff);
        }
        return number;
    }

    private byte byteAt(int at) {
        if (at < start || at >= end) {
            throw new IndexOutOfBoundsException("position " + at + ", section " + start + " to " + end);
        }
        return bytes.get(at);
    }
}
