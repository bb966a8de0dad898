package io.millrace.wasm.abi;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The encoding of field lists in the Proxy-Wasm ABI: the number of fields, the lengths of each name and value, and then
 * the texts, each followed by a zero byte. Numbers have 32 bits, the least significant byte first.
 */
public final class Pairs {
    /** Limit of the fields of a list. */
    private static final int PAIRS_MAX = 10_000;

    private Pairs() {}

    /** @param namesAndValues names and values in turn, one character for each byte */
    public static byte[] encode(List<String> namesAndValues) {
        int bytes = Integer.BYTES;
        for (String text : namesAndValues) {
            bytes += Integer.BYTES + text.length() + 1;
        }
        ByteBuffer out = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
        out.putInt(namesAndValues.size() / 2);
        for (String text : namesAndValues) {
            out.putInt(text.length());
        }
        for (String text : namesAndValues) {
            out.put(text.getBytes(StandardCharsets.ISO_8859_1));
            out.put((byte) 0);
        }
        return out.array();
    }

    /** Returns names and values in turn; null if the bytes do not have this encoding. */
    public static @Nullable List<String> decode(byte[] bytes) {
        List<String> namesAndValues = new ArrayList<>();
        if (bytes.length == 0) {
            return namesAndValues;
        }
        ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int count = in.remaining() < Integer.BYTES ? -1 : in.getInt();
        if (count < 0 || count > PAIRS_MAX || in.remaining() < 2L * count * Integer.BYTES) {
            return null;
        }
        int textStart = Integer.BYTES + 2 * count * Integer.BYTES;
        for (int i = 0; i < 2 * count; i++) {
            int length = in.getInt();
            if (length < 0 || length >= bytes.length - textStart || bytes[textStart + length] != 0) {
                return null;
            }
            namesAndValues.add(new String(bytes, textStart, length, StandardCharsets.ISO_8859_1));
            textStart += length + 1;
        }
        return namesAndValues;
    }
}
