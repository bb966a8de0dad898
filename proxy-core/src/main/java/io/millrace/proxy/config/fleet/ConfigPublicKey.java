package io.millrace.proxy.config.fleet;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.spec.X509EncodedKeySpec;
import java.util.Base64;

/**
 * The file with the public key that verifies the configuration of a fleet: Ed25519 (RFC 8032) as SubjectPublicKeyInfo
 * in PEM, as {@code millctl fleet config keygen} and {@code openssl pkey -pubout} write it. Stateless.
 */
public final class ConfigPublicKey {
    private static final String BEGIN = "-----BEGIN PUBLIC KEY-----";
    private static final String END = "-----END PUBLIC KEY-----";

    /** Limit of the file, in bytes. */
    private static final int LENGTH_MAX = 16 << 10;

    private ConfigPublicKey() {}

    /**
     * Reads a file.
     *
     * @throws IOException if it cannot be read, or is no such key; the message is for the operator
     */
    public static PublicKey read(Path file) throws IOException {
        if (Files.size(file) > LENGTH_MAX) {
            throw new IOException(file + " is longer than " + LENGTH_MAX + " bytes, so it is no public key");
        }
        String text = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
        int begin = text.indexOf(BEGIN);
        int end = text.indexOf(END);
        if (begin < 0 || end < begin) {
            throw new IOException(file + " has no line '" + BEGIN + "'; use the file .pub of fleet config keygen");
        }
        try {
            byte[] der = Base64.getMimeDecoder().decode(text.substring(begin + BEGIN.length(), end));
            return KeyFactory.getInstance("Ed25519").generatePublic(new X509EncodedKeySpec(der));
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            throw new IOException(file + " is no Ed25519 public key: " + e.getMessage(), e);
        }
    }
}
