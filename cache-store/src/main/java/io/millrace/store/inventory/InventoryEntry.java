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
 *    0  8  location of the object's newest record
 *    8  8  length of the whole body, -1 while unknown
 *   16  4  length of the encoded head
 *   20  4  expiry, seconds since the epoch, unsigned
 *   24  4  when the object was stored, seconds since the epoch, unsigned
 *   28  1  flags: bit 0 is set if the whole body is stored
 *   29  1  number of tags
 *   30  2  length of the text
 *   32  4  length of the key
 *   36     key, text (UTF-8), then per tag: length (1 byte), tag (UTF-8)
 * </pre>
 *
 * <p>Immutable; the key's array is borrowed and never changed.
 *
 * @param location location of the object's newest record
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
        long location,
        long bodyLength,
        int headLength,
        int expiry,
        int storedAt,
        boolean isWhole,
        byte[] key,
        String text,
        List<String> tags) {
    /** Bytes before the key. */
    static final int FIXED_BYTES = 36;

    /** Maximum bytes of the text; a longer one is truncated. */
    static final int TEXT_BYTES_MAX = 1024;

    /** Maximum number of tags, and maximum bytes of a tag; a longer tag is omitted. */
    static final int TAGS_MAX = 64;

    static final int TAG_BYTES_MAX = 255;

    byte[] encode() {
        byte[] textBytes = text.getBytes(StandardCharsets.UTF_8);
        int textLength = Math.min(textBytes.length, TEXT_BYTES_MAX);
        List<byte[]> kept = new ArrayList<>(tags.size());
        int length = FIXED_BYTES + key.length + textLength;
        for (String tag : tags) {
            byte[] bytes = tag.getBytes(StandardCharsets.UTF_8);
            if (bytes.length <= TAG_BYTES_MAX && kept.size() < TAGS_MAX) {
                kept.add(bytes);
                length += 1 + bytes.length;
            }
        }
        ByteBuffer out = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        out.putLong(location)
                .putLong(bodyLength)
                .putInt(headLength)
                .putInt(expiry)
                .putInt(storedAt);
        out.put((byte) (isWhole ? 1 : 0)).put((byte) kept.size()).putShort((short) textLength);
        out.putInt(key.length).put(key).put(textBytes, 0, textLength);
        for (byte[] tag : kept) {
            out.put((byte) tag.length).put(tag);
        }
        return out.array();
    }

    /** Returns the location in an encoded entry; 0 if it is invalid. */
    static long location(byte[] encoded) {
        return encoded.length < FIXED_BYTES ? 0 : little(encoded).getLong(0);
    }

    /** Returns the key in an encoded entry; null if it is invalid. */
    static byte @Nullable [] key(byte[] encoded) {
        if (encoded.length < FIXED_BYTES) {
            return null;
        }
        int length = little(encoded).getInt(32);
        if (length < 0 || length > encoded.length - FIXED_BYTES) {
            return null;
        }
        byte[] key = new byte[length];
        System.arraycopy(encoded, FIXED_BYTES, key, 0, length);
        return key;
    }

    /** Decodes an entry; null if it is invalid. */
    static @Nullable InventoryEntry decode(byte[] encoded) {
        byte[] key = key(encoded);
        if (key == null) {
            return null;
        }
        ByteBuffer in = little(encoded);
        int textLength = in.getShort(30) & 0xFFFF;
        int at = FIXED_BYTES + key.length;
        if (textLength > encoded.length - at) {
            return null;
        }
        String text = new String(encoded, at, textLength, StandardCharsets.UTF_8);
        at += textLength;
        List<String> tags = new ArrayList<>();
        for (int i = in.get(29) & 0xFF; i > 0; i--) {
            int length = at < encoded.length ? encoded[at] & 0xFF : encoded.length;
            if (length > encoded.length - at - 1) {
                return null;
            }
            tags.add(new String(encoded, at + 1, length, StandardCharsets.UTF_8));
            at += 1 + length;
        }
        boolean whole = (in.get(28) & 1) != 0;
        return new InventoryEntry(
                in.getLong(0),
                in.getLong(8),
                in.getInt(16),
                in.getInt(20),
                in.getInt(24),
                whole,
                key,
                text,
                List.copyOf(tags));
    }

    private static ByteBuffer little(byte[] encoded) {
        return ByteBuffer.wrap(encoded).order(ByteOrder.LITTLE_ENDIAN);
    }
}
