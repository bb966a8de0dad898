package io.millrace.proxy.tls.ocsp;

import java.util.Arrays;

/**
 * Reads the elements of a DER-encoded constructed value, one after the other (X.690). Confined to one thread.
 *
 * <p>Supports only tags of one byte, which suffice for OCSP. Damaged input always causes an
 * {@link IllegalArgumentException}.
 */
final class DerReader {
    static final int BOOLEAN = 0x01;
    static final int INTEGER = 0x02;
    static final int BIT_STRING = 0x03;
    static final int OCTET_STRING = 0x04;
    static final int OBJECT_IDENTIFIER = 0x06;
    static final int ENUMERATED = 0x0a;
    static final int GENERALIZED_TIME = 0x18;
    static final int SEQUENCE = 0x30;

    private final byte[] bytes;
    private final int end;
    private int at;

    private DerReader(byte[] bytes, int start, int end) {
        this.bytes = bytes;
        this.at = start;
        this.end = end;
    }

    /** Creates a reader of the complete array. The array is not copied. */
    static DerReader of(byte[] bytes) {
        return new DerReader(bytes, 0, bytes.length);
    }

    /** Returns the tag of a context-specific constructed element with the given number. */
    static int explicit(int number) {
        return 0xa0 | number;
    }

    boolean hasMore() {
        return at < end;
    }

    /** Returns the tag of the next element; -1 at the end. */
    int tag() {
        return at < end ? bytes[at] & 0xff : -1;
    }

    /** Reads the next element, which must have the given tag. Returns a reader of its content. */
    DerReader enter(int tag) {
        if (tag() != tag) {
            throw new IllegalArgumentException("tag " + tag() + " where " + tag + " is expected");
        }
        int start = at + 2;
        int length = start > end ? -1 : bytes[at + 1] & 0xff;
        if (length >= 0x80) {
            int octets = length - 0x80;
            if (octets == 0 || octets > 3 || start + octets > end) {
                throw new IllegalArgumentException(
                        "a length field of " + octets + " bytes, expected 1 to 3 within the element");
            }
            length = 0;
            for (int i = 0; i < octets; i++) {
                length = (length << 8) | (bytes[start++] & 0xff);
            }
        }
        if (length < 0 || length > end - start) {
            throw new IllegalArgumentException("an element is cut off");
        }
        at = start + length;
        return new DerReader(bytes, start, at);
    }

    /** Skips the next element if it has the given tag. Returns true if it was skipped. */
    boolean skipIf(int tag) {
        if (tag() != tag) {
            return false;
        }
        enter(tag);
        return true;
    }

    /** Reads the next element, which must have the given tag. Returns its bytes, including tag and length. */
    byte[] whole(int tag) {
        int start = at;
        enter(tag);
        return Arrays.copyOfRange(bytes, start, at);
    }

    /** Reads the next element, which must have the given tag. Returns its content. */
    byte[] content(int tag) {
        return enter(tag).rest();
    }

    /** Returns all remaining bytes. */
    byte[] rest() {
        return Arrays.copyOfRange(bytes, at, end);
    }

    /** Reads an object identifier. Returns its dotted form, for example {@code 1.3.14.3.2.26}. */
    String identifier() {
        byte[] content = content(OBJECT_IDENTIFIER);
        StringBuilder text = new StringBuilder();
        long arc = 0;
        for (byte each : content) {
            if (arc > Long.MAX_VALUE >> 8) {
                throw new IllegalArgumentException("an object identifier with a number that is too large");
            }
            arc = (arc << 7) | (each & 0x7f);
            if (each >= 0) {
                if (text.isEmpty()) {
                    long first = Math.min(arc / 40, 2);
                    text.append(first).append('.').append(arc - first * 40);
                } else {
                    text.append('.').append(arc);
                }
                arc = 0;
            }
        }
        return text.toString();
    }
}
