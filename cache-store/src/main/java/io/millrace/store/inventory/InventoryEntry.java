package io.millrace.store.inventory;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The entry of one object in the inventory (the table of stored objects for listings). Little-endian encoding:
 *
 * <pre>
 *    0  4  length of the entry in bytes
 *    4  4  offset of the object's record in its segment
 *    8  8  hash of the key, upper half
 *   16  8  hash of the key, lower half
 *   24  8  length of the whole body, -1 while unknown
 *   32  4  length of the encoded head
 *   36  4  expiry, seconds since the epoch, unsigned
 *   40  4  when the object was stored, seconds since the epoch, unsigned
 *   44  1  flags: bit 0 is set if the whole body is stored
 *   45  1  number of tags
 *   46  2  length of the text
 *   48  4  length of the key
 *   52     key, text (UTF-8), then per tag: length (1 byte), tag (UTF-8)
 * </pre>
 *
 * <p>Immutable; the key's array is borrowed and never changed.
 *
 * @param offset offset of the object's record in its segment
 * @param hashHigh upper half of the key's hash
 * @param hashLow lower half of the key's hash
 * @param bodyLength length of the whole body in bytes, -1 while unknown
 * @param headLength length of the encoded head in bytes
 * @param expiry time at which the object is no longer worth keeping, in seconds since the epoch, unsigned
 * @param storedAt time at which the object was stored, in seconds since the epoch, unsigned
 * @param isWhole whether the whole body is stored
 * @param key the key's bytes
 * @param text description of the response, defined by the code that uses the store
 * @param tags tags of the object
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record InventoryEntry(
        long offset,
        long hashHigh,
        long hashLow,
        long bodyLength,
        int headLength,
        int expiry,
        int storedAt,
        boolean isWhole,
        byte[] key,
        String text,
        List<String> tags) {
    /** Bytes before the key. */
    static final int FIXED_BYTES = 52;

    /** Maximum bytes of the text; a longer one is truncated. */
    static final int TEXT_BYTES_MAX = 1024;

    /** Maximum number of tags, and maximum bytes of a tag; a longer tag is omitted. */
    static final int TAGS_MAX = 64;

    static final int TAG_BYTES_MAX = 255;

    /** Encodes the entry. */
    public byte[] encode() {
        byte[] textBytes = text.getBytes(StandardCharsets.UTF_8);
        int textLength = Math.min(textBytes.length, TEXT_BYTES_MAX);
        List<byte[]> encodedTags = tags.isEmpty() ? List.of() : encodedTags();
        int length = FIXED_BYTES + key.length + textLength;
        for (byte[] tag : encodedTags) {
            length += 1 + tag.length;
        }
        ByteBuffer out = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        out.putInt(length).putInt((int) offset).putLong(hashHigh).putLong(hashLow);
        out.putLong(bodyLength).putInt(headLength).putInt(expiry).putInt(storedAt);
        out.put((byte) (isWhole ? 1 : 0)).put((byte) encodedTags.size()).putShort((short) textLength);
        out.putInt(key.length).put(key).put(textBytes, 0, textLength);
        for (byte[] tag : encodedTags) {
            out.put((byte) tag.length).put(tag);
        }
        return out.array();
    }

    private List<byte[]> encodedTags() {
        List<byte[]> kept = new ArrayList<>(tags.size());
        for (String tag : tags) {
            byte[] bytes = tag.getBytes(StandardCharsets.UTF_8);
            if (bytes.length <= TAG_BYTES_MAX && kept.size() < TAGS_MAX) {
                kept.add(bytes);
            }
        }
        return kept;
    }

    /**
     * Returns the length of the encoded entry that starts at an index of a little-endian buffer; 0 if there is no valid
     * entry.
     */
    public static int length(ByteBuffer in, int at) {
        int remaining = in.limit() - at;
        int length = remaining < FIXED_BYTES ? 0 : in.getInt(at);
        return length >= FIXED_BYTES
                        && length <= remaining
                        && in.getInt(at + 48) >= 0
                        && in.getInt(at + 48) <= length - FIXED_BYTES
                ? length
                : 0;
    }

    /** Returns the offset of the record in an encoded entry. */
    public static long offset(ByteBuffer in, int at) {
        return Integer.toUnsignedLong(in.getInt(at + 4));
    }

    /** Returns the upper half of the hash in an encoded entry. */
    public static long hashHigh(ByteBuffer in, int at) {
        return in.getLong(at + 8);
    }

    /** Returns the lower half of the hash in an encoded entry. */
    public static long hashLow(ByteBuffer in, int at) {
        return in.getLong(at + 16);
    }

    /** Returns a copy of the key in an encoded entry. */
    public static byte[] key(ByteBuffer in, int at) {
        byte[] key = new byte[in.getInt(at + 48)];
        in.get(at + FIXED_BYTES, key);
        return key;
    }

    /** Decodes the entry at an index for which {@link #length} is not 0; null if its text or tags are invalid. */
    public static @Nullable InventoryEntry decode(ByteBuffer in, int at) {
        byte[] key = key(in, at);
        int end = at + in.getInt(at);
        int next = at + FIXED_BYTES + key.length;
        String text = text(in, next, in.getShort(at + 46) & 0xFFFF, end);
        if (text == null) {
            return null;
        }
        next += in.getShort(at + 46) & 0xFFFF;
        List<String> tags = new ArrayList<>();
        for (int i = in.get(at + 45) & 0xFF; i > 0; i--) {
            int length = next < end ? in.get(next) & 0xFF : 0;
            String tag = text(in, next + 1, length, end);
            if (tag == null) {
                return null;
            }
            tags.add(tag);
            next += 1 + length;
        }
        return new InventoryEntry(
                offset(in, at),
                hashHigh(in, at),
                hashLow(in, at),
                in.getLong(at + 24),
                in.getInt(at + 32),
                in.getInt(at + 36),
                in.getInt(at + 40),
                (in.get(at + 44) & 1) != 0,
                key,
                text,
                List.copyOf(tags));
    }

    private static @Nullable String text(ByteBuffer in, int at, int length, int end) {
        if (length > end - at) {
            return null;
        }
        byte[] bytes = new byte[length];
        in.get(at, bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
