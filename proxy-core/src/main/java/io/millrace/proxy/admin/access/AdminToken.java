package io.millrace.proxy.admin.access;

import io.millrace.proxy.admin.resource.PurgeRights;
import io.millrace.proxy.config.admin.AdminConfig;
import io.millrace.proxy.config.admin.AdminRole;
import io.millrace.proxy.config.check.FilePermissionChecks;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A token of the admin API over TCP, with its rights and its request limit. The token itself is never printed.
 *
 * <p>Thread-safe; only the request limit changes.
 */
public final class AdminToken {
    /**
     * The pseudo token of sessions that {@code millctl dashboard} opens, with the rights of an operator. No credential
     * equals it.
     */
    public static final AdminToken OF_DASHBOARD =
            new AdminToken(AdminConfig.Token.ofDashboard(), new byte[0], null, new Object());

    private final AdminConfig.Token settings;
    private final byte[] digest;
    private final @Nullable RateLimit limit;
    /** Identifies the token: all versions have the same object, until the token is removed or its secret changes. */
    private final Object identity;

    private AdminToken(AdminConfig.Token settings, byte[] digest, @Nullable RateLimit limit, Object identity) {
        this.identity = identity;
        this.settings = settings;
        this.digest = digest;
        this.limit = limit;
    }

    /**
     * Reads a token: the first line of its file.
     *
     * @param previous the token of this name before a change of the configuration; null if there was none
     * @throws IOException if the file cannot be read, if users other than its owner and group can read it, or if the
     *     token is shorter than 16 characters
     */
    static AdminToken read(AdminConfig.Token settings, @Nullable AdminToken previous, LongSupplier nanoTime)
            throws IOException {
        String fault = FilePermissionChecks.tokenFileProblem(settings.file());
        if (fault != null) {
            throw new IOException(fault);
        }
        byte[] digest = digest(FilePermissionChecks.token(settings.file()));
        Object identity =
                previous != null && MessageDigest.isEqual(previous.digest, digest) ? previous.identity : new Object();
        return new AdminToken(settings, digest, limit(settings, previous, nanoTime), identity);
    }

    private static @Nullable RateLimit limit(
            AdminConfig.Token settings, @Nullable AdminToken previous, LongSupplier nanoTime) {
        if (settings.requestsPerMinute() == 0) {
            return null;
        }
        return previous != null && previous.settings.requestsPerMinute() == settings.requestsPerMinute()
                ? previous.limit
                : RateLimit.perMinute(settings.requestsPerMinute(), nanoTime);
    }

    /** Returns a token with the same secret and other settings. */
    AdminToken with(AdminConfig.Token changed, LongSupplier nanoTime) {
        return new AdminToken(changed, digest, limit(changed, this, nanoTime), identity);
    }

    AdminConfig.Token settings() {
        return settings;
    }

    /** Name in logs and records. */
    public String name() {
        return settings.name();
    }

    public AdminRole role() {
        return settings.role();
    }

    /** Rights to purge; null for every purge. */
    public @Nullable PurgeRights purgeRights() {
        return settings.role() == AdminRole.PURGER ? new PurgeRights(settings.sites(), settings.kinds()) : null;
    }

    /** Counts a request; returns 0, or the seconds until the next request is allowed. */
    public long countRequest() {
        return limit == null ? 0 : limit.count();
    }

    /** Limit of requests per minute; 0 for none. */
    public int requestsPerMinute() {
        return settings.requestsPerMinute();
    }

    /** Returns true if this digest is the digest of the token. Takes the same time for each wrong credential. */
    boolean matches(byte[] credentialDigest) {
        return MessageDigest.isEqual(digest, credentialDigest);
    }

    /** Returns true if both objects are versions of one token with the same secret. */
    boolean isSameAs(AdminToken other) {
        return identity == other.identity;
    }

    static byte[] digest(String token) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.ISO_8859_1));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
