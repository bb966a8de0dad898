package io.millrace.cli.warm;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * A hash of a sequence of texts, by which {@code --resume} detects changed input. Immutable.
 *
 * <p>The hash of a sequence is computed from its last text and the hash of the texts before it.
 *
 * @param hex SHA-256 in hexadecimal; empty for a sequence without texts
 */
record SequenceHash(String hex) {
    static final SequenceHash NONE = new SequenceHash("");

    /** Returns the hash of the sequence with one more text. */
    SequenceHash then(String text) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(hex.getBytes(StandardCharsets.US_ASCII));
            StringBuilder next = new StringBuilder(64);
            for (byte octet : digest.digest(text.getBytes(StandardCharsets.UTF_8))) {
                next.append(Character.forDigit((octet >> 4) & 15, 16)).append(Character.forDigit(octet & 15, 16));
            }
            return new SequenceHash(next.toString());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
