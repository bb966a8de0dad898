package io.millrace.proxy.purge.record;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The audit record of a purge. Immutable.
 *
 * @param id unique identifier
 * @param atMillis time of the purge, in epoch milliseconds
 * @param client the client that requested the purge
 * @param scope kind of the scope, such as {@code url}, {@code host} or {@code tag}
 * @param target the host, URL, group or tags; at most {@value #TARGET_LENGTH_MAX} characters are kept
 * @param site the site to which the tags belong; null for every site and for other scopes
 * @param soft whether the purge makes stored responses stale instead of removing them
 * @param state current state
 * @param objects number of stored objects that the purge covers; -1 if not counted
 * @param bytes body bytes of these objects; -1 if not counted
 */
public record PurgeRecord(
        String id,
        long atMillis,
        PurgeClient client,
        String scope,
        String target,
        @Nullable String site,
        boolean soft,
        PurgeState state,
        long objects,
        long bytes) {
    /** The scope of a purge that is in force but whose record was lost. */
    public static final String UNKNOWN = "unknown";

    /** Limit of a target in characters. */
    public static final int TARGET_LENGTH_MAX = 1024;

    /** Shortens a long target, and replaces characters that UTF-8 cannot encode. */
    public PurgeRecord {
        target = encodable(
                target.length() > TARGET_LENGTH_MAX ? target.substring(0, TARGET_LENGTH_MAX - 3) + "..." : target);
        site = site == null ? null : encodable(site);
    }

    /** Replaces unpaired surrogates by question marks. A request may contain them, and shortening may leave one. */
    private static String encodable(String text) {
        boolean hasSurrogates = text.chars().anyMatch(c -> Character.isSurrogate((char) c));
        return hasSurrogates ? new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8) : text;
    }

    /**
     * Returns the target of a purge of tags, such as {@code a, b of www.example.com}.
     *
     * @param site the site, or null for every site
     */
    public static String tagTarget(List<String> tags, @Nullable String site) {
        return String.join(", ", tags) + " of " + (site == null ? "every site" : site);
    }

    /** Creates the record of a purge that is in force and durable, but whose objects are not counted. */
    public static PurgeRecord done(
            String id,
            long atMillis,
            PurgeClient client,
            String scope,
            String target,
            @Nullable String site,
            boolean soft) {
        return new PurgeRecord(id, atMillis, client, scope, target, site, soft, PurgeState.DONE, -1, -1);
    }

    /** Returns a copy in another state. */
    public PurgeRecord in(PurgeState other) {
        return new PurgeRecord(id, atMillis, client, scope, target, site, soft, other, objects, bytes);
    }

    /** Returns a copy with a count. */
    public PurgeRecord counted(long countedObjects, long countedBytes) {
        return new PurgeRecord(id, atMillis, client, scope, target, site, soft, state, countedObjects, countedBytes);
    }
}
