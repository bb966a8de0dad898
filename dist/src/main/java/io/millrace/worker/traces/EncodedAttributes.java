package io.millrace.worker.traces;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The last value of each attribute that repeats from span to span, and its encoding. Copying the encoding is cheaper
 * than encoding the value again. Confined to one thread.
 */
final class EncodedAttributes {
    private static final byte[] NONE = {};

    private final byte[] @Nullable [] texts;
    private final long[] numbers;
    private final byte[][] encodings;
    private final ProtoBuffer buffer = new ProtoBuffer(64);

    EncodedAttributes(int attributes) {
        texts = new byte[attributes][];
        numbers = new long[attributes];
        encodings = new byte[attributes][];
        Arrays.fill(encodings, NONE);
    }

    /** Returns true if this text is the last value of an attribute. Compares arrays by identity. */
    boolean has(int attribute, byte[] text) {
        return texts[attribute] == text;
    }

    /** Returns true if this number is the last value of an attribute. */
    boolean has(int attribute, long number) {
        return numbers[attribute] == number && encodings[attribute].length > 0 && texts[attribute] == null;
    }

    /** The encoding of the last value. Borrowed, and must not be changed. */
    byte[] encoded(int attribute) {
        return encodings[attribute];
    }

    /** Returns an empty buffer for the encoding of a value, until {@link #end}. */
    ProtoBuffer begin() {
        buffer.moveTo(0);
        return buffer;
    }

    /** Keeps a text, and its encoding, which the buffer contains. */
    void end(int attribute, byte[] text) {
        texts[attribute] = text;
        keepEncoding(attribute);
    }

    /** Keeps a number, and its encoding, which the buffer contains. */
    void end(int attribute, long number) {
        texts[attribute] = null;
        numbers[attribute] = number;
        keepEncoding(attribute);
    }

    private void keepEncoding(int attribute) {
        encodings[attribute] = Arrays.copyOf(buffer.bytes(), buffer.end());
    }
}
