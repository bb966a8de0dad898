package io.millrace.cli.warc;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The digest of a WARC record block. Its text form is the name of the algorithm, a colon, and the value in base32 (RFC
 * 4648). Confined to one thread.
 */
public final class WarcDigest {
    private static final String BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    private static final int BASE32_GROUP = 8;

    private final MessageDigest digest;
    private final String name;

    private WarcDigest(MessageDigest digest, String name) {
        this.digest = digest;
        this.name = name;
    }

    /** Creates a SHA-256 digest. */
    public static WarcDigest sha256() {
        WarcDigest made = of("sha256");
        if (made == null) {
            throw new IllegalStateException("every Java has SHA-256");
        }
        return made;
    }

    /** Creates a digest with the algorithm of this name; returns null for an unknown algorithm. */
    public static @Nullable WarcDigest of(String algorithm) {
        String name = algorithm.toLowerCase(Locale.ROOT);
        String known =
                switch (name) {
                    case "sha1", "sha-1" -> "SHA-1";
                    case "sha256", "sha-256" -> "SHA-256";
                    case "sha512", "sha-512" -> "SHA-512";
                    case "md5" -> "MD5";
                    default -> "";
                };
        try {
            return known.isEmpty() ? null : new WarcDigest(MessageDigest.getInstance(known), name);
        } catch (NoSuchAlgorithmException e) {
            return null;
        }
    }

    public void update(byte[] bytes, int offset, int length) {
        digest.update(bytes, offset, length);
    }

    /** Ends the digest, and returns its bytes. */
    public byte[] bytes() {
        return digest.digest();
    }

    /** Ends the digest, and returns it in the format of the field {@code WARC-Block-Digest}. */
    public String text() {
        return name + ":" + base32(bytes());
    }

    /**
     * Ends the digest, and returns true if it equals a value.
     *
     * @param value in base32 or hexadecimal, without the name of the algorithm
     */
    public boolean matches(String value) {
        byte[] bytes = bytes();
        return unpadded(base32(bytes)).equals(unpadded(value.toUpperCase(Locale.ROOT)))
                || hex(bytes).equals(value.toLowerCase(Locale.ROOT));
    }

    private static String unpadded(String text) {
        int end = text.length();
        while (end > 0 && text.charAt(end - 1) == '=') {
            end--;
        }
        return text.substring(0, end);
    }

    static String base32(byte[] bytes) {
        StringBuilder text = new StringBuilder();
        int bits = 0;
        int count = 0;
        for (byte octet : bytes) {
            bits = (bits << 8) | (octet & 0xff);
            count += 8;
            while (count >= 5) {
                text.append(BASE32.charAt((bits >> (count - 5)) & 31));
                count -= 5;
            }
            bits &= (1 << count) - 1;
        }
        if (count > 0) {
            text.append(BASE32.charAt((bits << (5 - count)) & 31));
        }
        while (text.length() % BASE32_GROUP != 0) {
            text.append('=');
        }
        return text.toString();
    }

    private static String hex(byte[] bytes) {
        StringBuilder text = new StringBuilder();
        for (byte octet : bytes) {
            text.append(Character.forDigit((octet >> 4) & 15, 16)).append(Character.forDigit(octet & 15, 16));
        }
        return text.toString();
    }
}
