package io.millrace.cli.warm;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** A hash of a sequence of texts: each hash covers the one before it. Immutable. */
record Mark(String hex) {
    static final Mark NONE = new Mark("");

    /** Returns the hash of the sequence with one more text. */
    Mark then(String text) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(hex.getBytes(StandardCharsets.US_ASCII));
            StringBuilder next = new StringBuilder(64);
            for (byte octet : digest.digest(text.getBytes(StandardCharsets.UTF_8))) {
                next.append(Character.forDigit((octet >> 4) & 15, 16)).append(Character.forDigit(octet & 15, 16));
            }
            return new Mark(next.toString());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
