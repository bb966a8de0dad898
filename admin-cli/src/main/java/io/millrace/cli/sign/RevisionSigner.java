package io.millrace.cli.sign;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;

/**
 * Signs revisions (versions) of the configuration of a fleet with Ed25519 (RFC 8032). The signed text is called a
 * statement. Keys are PEM files: PKCS #8 for the private key, SubjectPublicKeyInfo for the public key. Thread-safe.
 */
public final class RevisionSigner {
    private static final String ALGORITHM = "Ed25519";
    private static final String PRIVATE = "PRIVATE KEY";
    private static final String PUBLIC = "PUBLIC KEY";
    private static final int LINE_LENGTH = 64;

    private final PrivateKey key;

    private RevisionSigner(PrivateKey key) {
        this.key = key;
    }

    /**
     * A revision to sign.
     *
     * @param fleet name of the fleet
     * @param revision number of the revision
     * @param content SHA-256 of the text of the configuration, or {@code none}
     * @param restores for a rollback, number of the earlier revision with the same content; otherwise 0
     * @param canary nodes that apply the revision first; empty without a canary
     * @param seconds time for which the canary nodes are observed
     * @param guards conditions that the metrics of the canary nodes must fulfil
     * @param at time of the signature
     * @param by name of the operator
     */
    public record Statement(
            String fleet,
            long revision,
            String content,
            long restores,
            List<String> canary,
            long seconds,
            List<String> guards,
            String at,
            String by) {
        /**
         * Returns the text that is signed, in the format that {@code RevisionStatement} of the module {@code dist}
         * defines.
         */
        public String text() {
            return String.join(
                    "\n",
                    "millrace fleet config 1",
                    "fleet " + fleet,
                    "revision " + revision,
                    "content " + content,
                    "restores " + restores,
                    "canary " + (canary.isEmpty() ? "none" : String.join(",", canary)),
                    "seconds " + seconds,
                    "guard " + (guards.isEmpty() ? "none" : String.join(",", guards)),
                    "at " + at,
                    "by " + by,
                    "");
        }
    }

    /**
     * Writes a new pair of keys.
     *
     * @param file file of the private key, which only this user can read; the public key is beside it with {@code .pub}
     * @return the file of the public key
     * @throws IOException if a file exists or cannot be written
     */
    public static Path generate(Path file) throws IOException {
        Path publicFile = file.resolveSibling(file.getFileName() + ".pub");
        if (Files.exists(publicFile)) {
            throw new FileAlreadyExistsException(publicFile.toString());
        }
        try {
            KeyPair pair = KeyPairGenerator.getInstance(ALGORITHM).generateKeyPair();
            byte[] text = pem(PRIVATE, pair.getPrivate().getEncoded());
            try (var channel = Files.newByteChannel(
                    file,
                    EnumSet.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
                channel.write(ByteBuffer.wrap(text));
            }
            Files.write(publicFile, pem(PUBLIC, pair.getPublic().getEncoded()), StandardOpenOption.CREATE_NEW);
            return publicFile;
        } catch (GeneralSecurityException e) {
            throw new IOException("this Java runtime has no Ed25519: " + e.getMessage(), e);
        }
    }

    private static byte[] pem(String name, byte[] der) {
        String body = Base64.getMimeEncoder(LINE_LENGTH, new byte[] {'\n'}).encodeToString(der);
        return ("-----BEGIN " + name + "-----\n" + body + "\n-----END " + name + "-----\n")
                .getBytes(StandardCharsets.US_ASCII);
    }

    /**
     * Reads a private key.
     *
     * @throws IOException if the file cannot be read, or contains no Ed25519 key; the message is for the operator
     */
    public static RevisionSigner read(Path file) throws IOException {
        String text = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
        String begin = "-----BEGIN " + PRIVATE + "-----";
        int at = text.indexOf(begin);
        int end = text.indexOf("-----END " + PRIVATE + "-----");
        if (at < 0 || end < at) {
            throw new IOException("no line '" + begin + "'; millctl fleet config keygen writes such a file");
        }
        try {
            byte[] der = Base64.getMimeDecoder().decode(text.substring(at + begin.length(), end));
            return new RevisionSigner(KeyFactory.getInstance(ALGORITHM).generatePrivate(new PKCS8EncodedKeySpec(der)));
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            throw new IOException("no Ed25519 private key: " + e.getMessage(), e);
        }
    }

    /** Returns the signature of a text in Base64. */
    public String sign(String text) {
        try {
            Signature signer = Signature.getInstance(ALGORITHM);
            signer.initSign(key);
            signer.update(text.getBytes(StandardCharsets.UTF_8));
            return Base64.getEncoder().encodeToString(signer.sign());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns the SHA-256 hash of a content in hexadecimal digits. */
    public static String hash(byte[] content) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }
}
