package io.millrace.proxy.tls;

import io.netty.handler.ssl.OpenSslSessionTicketKey;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The keys that encrypt TLS session tickets, newest first (RFC 5077 section 4). Immutable.
 *
 * <p>The first key encrypts new tickets; all keys decrypt tickets. A key has {@value #KEY_BYTES} bytes, in the file
 * format of Traffic Server: name, HMAC key and AES key, 16 bytes each.
 */
public final class TicketKeys {
    /** Length of one key in bytes. */
    public static final int KEY_BYTES = 48;

    /** Number of keys kept after a rotation. */
    public static final int KEPT = 4;

    /** Time between two rotations, in hours. */
    public static final long ROTATION_HOURS = 12;

    /** Limit of keys in a file. */
    private static final int KEYS_MAX = 16;
    /** Length of each of the three parts of a key, in bytes. */
    private static final int PART_BYTES = 16;

    private final List<byte[]> keys;

    private TicketKeys(List<byte[]> keys) {
        this.keys = List.copyOf(keys);
    }

    /** Returns keys that consist of one new random key. */
    public static TicketKeys generate(SecureRandom random) {
        return new TicketKeys(List.of(newKey(random)));
    }

    /**
     * Parses concatenated keys.
     *
     * @throws IllegalArgumentException if there are no keys, too many keys, or an incomplete key
     */
    public static TicketKeys parse(byte[] bytes) {
        if (bytes.length == 0 || bytes.length % KEY_BYTES != 0 || bytes.length / KEY_BYTES > KEYS_MAX) {
            throw new IllegalArgumentException("has " + bytes.length + " bytes; expected 1 to " + KEYS_MAX + " keys of "
                    + KEY_BYTES + " bytes each; make a key with 'openssl rand " + KEY_BYTES + "'");
        }
        List<byte[]> keys = new ArrayList<>();
        for (int at = 0; at < bytes.length; at += KEY_BYTES) {
            keys.add(Arrays.copyOfRange(bytes, at, at + KEY_BYTES));
        }
        return new TicketKeys(keys);
    }

    /** Returns these keys preceded by a new random key, limited to the newest {@value #KEPT}. */
    public TicketKeys rotated(SecureRandom random) {
        return generate(random).followedBy(this);
    }

    /** Returns these keys, followed by keys of {@code older} up to a total of {@value #KEPT}. */
    TicketKeys followedBy(TicketKeys older) {
        List<byte[]> all = new ArrayList<>(keys);
        for (byte[] key : older.keys) {
            if (all.size() < KEPT && all.stream().noneMatch(each -> MessageDigest.isEqual(each, key))) {
                all.add(key);
            }
        }
        return new TicketKeys(all);
    }

    /** Returns the concatenated keys. */
    public byte[] bytes() {
        byte[] all = new byte[keys.size() * KEY_BYTES];
        for (int i = 0; i < keys.size(); i++) {
            System.arraycopy(keys.get(i), 0, all, i * KEY_BYTES, KEY_BYTES);
        }
        return all;
    }

    /** The number of keys. */
    public int size() {
        return keys.size();
    }

    OpenSslSessionTicketKey[] forLibrary() {
        return keys.stream()
                .map(key -> new OpenSslSessionTicketKey(
                        Arrays.copyOfRange(key, 0, PART_BYTES),
                        Arrays.copyOfRange(key, PART_BYTES, 2 * PART_BYTES),
                        Arrays.copyOfRange(key, 2 * PART_BYTES, KEY_BYTES)))
                .toArray(OpenSslSessionTicketKey[]::new);
    }

    private static byte[] newKey(SecureRandom random) {
        byte[] key = new byte[KEY_BYTES];
        random.nextBytes(key);
        return key;
    }
}
