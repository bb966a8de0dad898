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
 * Cache groups (RFC 9875): which a response belongs to, and which the answer to an unsafe request invalidates. Groups are those
 * of one origin: the same name elsewhere is another group (s2.1). Thread-safe: no state.
 */
public final class CacheGroups {
    /** Most groups of a stored response; s2 asks for 32. One with more is not stored, as it could not be invalidated by all. */
    public static final int GROUPS_MAX = 1024;

    /** Most groups that are invalidated one by one by one response; s3 asks for 32. More stand for all of the host. */
    public static final int INVALIDATED_MAX = 128;

    private static final FieldName CACHE_GROUPS = FieldName.of("Cache-Groups");
    private static final FieldName CACHE_GROUP_INVALIDATION = FieldName.of("Cache-Group-Invalidation");

    private CacheGroups() {}

    /** Hashes of the groups of a response, in rising order; empty where it names none (s2). */
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

    /** Whether the response names more groups than are kept. */
    public static boolean areTooMany(FieldSection fields) {
        return fields.contains(CACHE_GROUPS) && strings(fields, CACHE_GROUPS).size() > GROUPS_MAX;
    }

    /**
     * The groups that a response invalidates, of its request's origin: none of a safe method (s3), and of an unsafe one where it
     * is no error, as with the URIs that it invalidates (RFC 9111 s4.4).
     */
    public static List<String> invalidatedBy(RequestHead request, ResponseHead response) {
        return Invalidation.isInvalidating(request, response)
                ? strings(response.fields(), CACHE_GROUP_INVALIDATION)
                : List.of();
    }

    /**
     * A group of an origin as 64 bits that nobody can aim at: the owner of one origin must not find a name whose hash is that of
     * another's group.
     *
     * @param origin any URL of the origin
     */
    public static long hash(TargetUri origin, String group) {
        MessageDigest digest;
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
        digest.update((byte) (origin.isSecure() ? 1 : 0));
        digest.update((byte) (origin.port() >>> 8));
        digest.update((byte) origin.port());
        digest.update(origin.hostBytes());
        digest.update((byte) 0);
        digest.update(group.getBytes(StandardCharsets.ISO_8859_1));
        return ByteBuffer.wrap(digest.digest()).getLong();
    }

    /** The members of a list of strings, none where any of them is something else: the field then counts as absent. */
    private static List<String> strings(FieldSection fields, FieldName name) {
        List<Member> members = StructuredFields.list(fields, name);
        if (members == null) {
            return List.of();
        }
        // Each once: a head may repeat one thousands of times.
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
