package io.millrace.proxy.caching;

import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.http.structured.BareItem;
import io.millrace.proxy.http.structured.Member;
import io.millrace.proxy.http.structured.StructuredFields;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Reads cache groups (RFC 9875): the groups of a response, and the groups that an unsafe request invalidates. A group
 * belongs to one origin: the same name at another origin is another group (s2.1). Thread-safe: no state.
 */
public final class CacheGroups {
    /**
     * Limit of groups of a stored response; s2 requires at least 32. A response with more groups is not stored, because
     * an invalidation of a dropped group would miss it.
     */
    public static final int GROUPS_MAX = 1024;

    /**
     * Limit of groups that one response invalidates individually; s3 requires at least 32. Beyond it the whole host is
     * invalidated.
     */
    public static final int INVALIDATED_MAX = 128;

    private static final FieldName CACHE_GROUPS = FieldName.of("Cache-Groups");
    private static final FieldName CACHE_GROUP_INVALIDATION = FieldName.of("Cache-Group-Invalidation");

    private CacheGroups() {}

    /** Returns the hashes of the groups of a response, sorted; empty if it lists none (s2). */
    static long[] hashes(TargetUri url, FieldSection fields) {
        if (!fields.contains(CACHE_GROUPS)) {
            return Invalidations.NO_GROUPS;
        }
        List<String> names = strings(fields, CACHE_GROUPS);
        long[] hashes = new long[names.size()];
        for (int i = 0; i < hashes.length; i++) {
            hashes[i] = hash(url, names.get(i));
        }
        Arrays.sort(hashes);
        return hashes.length == 0 ? Invalidations.NO_GROUPS : hashes;
    }

    /** Returns true if the response lists more groups than the limit. */
    public static boolean areTooMany(FieldSection fields) {
        return fields.contains(CACHE_GROUPS) && strings(fields, CACHE_GROUPS).size() > GROUPS_MAX;
    }

    /**
     * Returns the groups that a response invalidates, within its request's origin. Empty for a safe method (s3) and for
     * an error, as with invalidated URIs (RFC 9111 s4.4).
     */
    public static List<String> invalidatedBy(RequestHead request, ResponseHead response) {
        return Invalidation.isInvalidating(request, response)
                ? strings(response.fields(), CACHE_GROUP_INVALIDATION)
                : List.of();
    }

    /**
     * Returns a 64-bit hash of a group of an origin. The hash is cryptographic, so that the owner of one origin cannot
     * construct a name that collides with another origin's group.
     *
     * @param origin any URL of the origin
     */
    public static long hash(TargetUri origin, String group) {
        MessageDigest digest;
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this Java runtime has no SHA-256", e);
        }
        digest.update((byte) (origin.isSecure() ? 1 : 0));
        digest.update((byte) (origin.port() >>> 8));
        digest.update((byte) origin.port());
        digest.update(origin.hostBytes());
        digest.update((byte) 0);
        digest.update(group.getBytes(StandardCharsets.ISO_8859_1));
        return ByteBuffer.wrap(digest.digest()).getLong();
    }

    /** Returns the members of a list of strings. If any member has another type, the field counts as absent. */
    private static List<String> strings(FieldSection fields, FieldName name) {
        List<Member> members = StructuredFields.list(fields, name);
        if (members == null) {
            return List.of();
        }
        // Without duplicates: a head may repeat one name thousands of times.
        Set<String> strings = new LinkedHashSet<>();
        for (Member member : members) {
            if (!(member instanceof Member.Item item) || !(item.value() instanceof BareItem.SfString string)) {
                return List.of();
            }
            strings.add(string.value());
        }
        return List.copyOf(strings);
    }
}
