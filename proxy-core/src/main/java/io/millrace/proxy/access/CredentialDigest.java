package io.millrace.proxy.access;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * A keyed digest of credentials and of the settings by which they are checked. It is the key
 * under which results of checks are remembered. The credentials cannot be computed from it. Immutable.
 *
 * @param high the first 64 bits
 * @param low the next 64 bits
 */
public record CredentialDigest(long high, long low) {
    /** Returns the digest function for one thread. */
    public static MessageDigest function() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this Java runtime has no SHA-256", e);
        }
    }

    /**
     * Computes a digest.
     *
     * @param with the digest function of the calling thread
     * @param secret the key
     * @param settings digest of the settings
     * @param bytes array that contains the credentials between the two positions
     */
    public static CredentialDigest of(
            MessageDigest with, byte[] secret, byte[] settings, byte[] bytes, int from, int to) {
        with.update(secret);
        with.update(settings);
        with.update(bytes, from, to - from);
        ByteBuffer sum = ByteBuffer.wrap(with.digest());
        return new CredentialDigest(sum.getLong(), sum.getLong());
    }
}
