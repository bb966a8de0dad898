package io.millrace.proxy.admin;

import io.millrace.proxy.config.check.FilePermissionChecks;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import org.jspecify.annotations.Nullable;

/** The bearer token (RFC 6750 section 2.1) that the admin API requires on TCP. Never printed. Immutable. */
public final class AdminToken {
    private static final String SCHEME = "Bearer ";

    private final byte[] digest;

    private AdminToken(String token) {
        this.digest = digest(token);
    }

    /**
     * Reads the token from the first line of a file.
     *
     * @throws IOException if the file cannot be read, if others than its owner and group can read it, or if the token
     *     is shorter than 16 characters
     */
    public static AdminToken read(Path file) throws IOException {
        String fault = FilePermissionChecks.tokenFault(file);
        if (fault != null) {
            throw new IOException(fault);
        }
        return new AdminToken(FilePermissionChecks.token(file));
    }

    /** Returns whether an Authorization field value has this token; takes the same time for every wrong token. */
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
