package io.millrace.proxy.admin.dashboard;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.HexFormat;

/** Creates random secrets and computes their digests. The proxy stores only the digests. Thread-safe. */
final class Secret {
    private static final SecureRandom RANDOM = new SecureRandom();

    private static final int BYTES = 24;

    private Secret() {}

    /** Creates a secret of 32 characters, which are safe in URLs and cookies. */
    static String next() {
        byte[] bytes = new byte[BYTES];
        RANDOM.nextBytes(bytes);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    /**
     * The SHA-256 digest of a secret in hexadecimal digits. The timing of a lookup by digest reveals nothing about the
     * secret.
     */
    static String digest(String secret) {
        return digest(secret.getBytes(StandardCharsets.UTF_8));
    }

    /** The SHA-256 digest of bytes in hexadecimal digits. */
    static String digest(byte[] content) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
