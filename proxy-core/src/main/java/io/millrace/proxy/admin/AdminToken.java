package io.millrace.proxy.admin;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import org.jspecify.annotations.Nullable;

/** The bearer token (RFC 6750 section 2.1) that the admin API asks for on TCP. Never printed. Immutable. */
public final class AdminToken {
    static final int MIN_LENGTH = 16;
    private static final int MAX_LENGTH = 1024;
    private static final String SCHEME = "Bearer ";

    private final byte[] digest;

    private AdminToken(String token) {
        this.digest = digest(token);
    }

    /**
     * Reads the token: the file's first line.
     *
     * @throws IOException if the file cannot be read, if others than its owner and group can read it, or if the token is
     *     shorter than 16 characters
     */
    public static AdminToken read(Path file) throws IOException {
        checkFile(file);
        PosixFileAttributeView view = Files.getFileAttributeView(file, PosixFileAttributeView.class);
        if (view != null && view.readAttributes().permissions().contains(PosixFilePermission.OTHERS_READ)) {
            throw new IOException("the token file can be read by everybody, run 'chmod o-r': " + file);
        }
        if (Files.size(file) > MAX_LENGTH) {
            throw new IOException("the token file is longer than " + MAX_LENGTH + " bytes: " + file);
        }
        String token = Files.readString(file, StandardCharsets.ISO_8859_1)
                .lines()
                .findFirst()
                .orElse("")
                .strip();
        if (token.length() < MIN_LENGTH) {
            throw new IOException(
                    "the token has " + token.length() + " characters, at least " + MIN_LENGTH + " are needed: " + file);
        }
        return new AdminToken(token);
    }

    /** The file system's own exceptions name the file and no fault. */
    private static void checkFile(Path file) throws IOException {
        String fault = !Files.exists(file)
                ? "no such file"
                : !Files.isRegularFile(file)
                        ? "is a directory or a device, and no file"
                        : !Files.isReadable(file) ? "permission denied" : null;
        if (fault != null) {
            throw new IOException("the token file cannot be read, " + fault + ": " + file);
        }
    }

    /** Whether an Authorization field value carries this token; takes the same time for every wrong one. */
    boolean isIn(@Nullable String authorization) {
        return authorization != null
                && authorization.regionMatches(true, 0, SCHEME, 0, SCHEME.length())
                && MessageDigest.isEqual(
                        digest, digest(authorization.substring(SCHEME.length()).strip()));
    }

    private static byte[] digest(String token) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.ISO_8859_1));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
