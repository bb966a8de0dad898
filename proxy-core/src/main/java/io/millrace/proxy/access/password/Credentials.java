package io.millrace.proxy.access.password;

import io.millrace.proxy.access.CredentialDigest;
import io.millrace.proxy.config.guard.PasswordFile;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * The user name and password of a request with Basic authentication (RFC 7617). Immutable.
 *
 * @param file the file with the users and the hashes of their passwords
 * @param user the user name
 * @param password the password
 * @param digest key under which {@link PasswordVerifier} remembers the result
 */
public record Credentials(PasswordFile file, String user, String password, CredentialDigest digest) {
    private static final String SCHEME = "Basic ";

    /** Returns true if a value of Authorization has the scheme Basic. */
    public static boolean isBasic(String value) {
        return value.regionMatches(true, 0, SCHEME, 0, SCHEME.length());
    }

    /**
     * Parses a value of Authorization.
     *
     * @return null if it does not have the syntax of RFC 7617
     */
    public static @Nullable Credentials parse(PasswordFile file, String value, CredentialDigest digest) {
        if (!isBasic(value)) {
            return null;
        }
        byte[] bytes;
        try {
            bytes = Base64.getDecoder().decode(value.substring(SCHEME.length()).strip());
        } catch (IllegalArgumentException e) {
            return null;
        }
        String pair = new String(bytes, StandardCharsets.UTF_8);
        int colon = pair.indexOf(':');
        return colon < 0 ? null : new Credentials(file, pair.substring(0, colon), pair.substring(colon + 1), digest);
    }

    /** The user name only, so that no log contains the password. */
    @Override
    public String toString() {
        return user;
    }
}
