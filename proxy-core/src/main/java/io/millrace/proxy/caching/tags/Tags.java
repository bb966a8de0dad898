package io.millrace.proxy.caching.tags;

import io.millrace.proxy.http.TargetUri;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The tags of one stored response and their site. Hashes are computed at the first lookup that needs them. A lookup
 * needs none if the response has no tags, or is newer than all tag purges.
 *
 * <p>Thread-safe. Immutable except for the cached hashes.
 */
public final class Tags {
    /** No tags. */
    public static final Tags NONE = new Tags(null, new byte[0], 0);

    /** Limit of tags of one stored response, including the groups that an update adds. */
    public static final int COUNT_MAX = 4096;

    /** The byte after each tag in {@link #packed}. */
    static final byte SEPARATOR = '\n';

    private static final long[] NO_HASHES = {};

    private final @Nullable String site;
    private final byte[] packed;
    private final int count;
    /** Computed on demand; two threads may compute the same hashes. */
    private volatile @Nullable Hashes hashes;

    /** The hashes of the site and the tags, computed with one key. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Hashes(TagKey key, long site, long[] tags) {}

    Tags(@Nullable String site, byte[] packed, int count) {
        this.site = site;
        this.packed = packed;
        this.count = count;
    }

    /**
     * Reads the result of {@link #packed}.
     *
     * @param site the site; null for the host of the URL
     * @throws IllegalArgumentException if the bytes are not tags
     */
    public static Tags ofPacked(@Nullable String site, byte[] packed) {
        int count = 0;
        for (byte b : packed) {
            count += b == SEPARATOR ? 1 : 0;
        }
        if (packed.length == 0 || packed[packed.length - 1] != SEPARATOR) {
            throw new IllegalArgumentException("the last tag has no line feed after it");
        }
        if (count > COUNT_MAX) {
            throw new IllegalArgumentException("tags: actual=" + count + ", limit=" + COUNT_MAX);
        }
        return new Tags(site, packed, count);
    }

    /** The site in the remap rule; null for the host of the response's URL. */
    public @Nullable String site() {
        return site;
    }

    /** The tags, each followed by a line feed; borrowed, must not be changed. */
    public byte[] packed() {
        return packed;
    }

    public int count() {
        return count;
    }

    public boolean isEmpty() {
        return count == 0;
    }

    /** Returns the same tags on another site. */
    public Tags onSite(@Nullable String other) {
        return isEmpty() || Objects.equals(site, other) ? this : new Tags(other, packed, count);
    }

    /** Returns these tags and others. */
    public Tags union(Tags others) {
        if (others.isEmpty() || Arrays.equals(packed, others.packed)) {
            return this;
        }
        TagList list = new TagList();
        list.add(packed);
        list.add(others.packed);
        return list.tags().onSite(site);
    }

    /** Returns the bytes of each tag. */
    public List<byte[]> each() {
        List<byte[]> each = new ArrayList<>(count);
        int start = 0;
        for (int at = 0; at < packed.length; at++) {
            if (packed[at] == SEPARATOR) {
                each.add(Arrays.copyOfRange(packed, start, at));
                start = at + 1;
            }
        }
        return each;
    }

    /** Returns the tags as texts for display. */
    public List<String> texts() {
        List<String> texts = new ArrayList<>(count);
        for (byte[] tag : each()) {
            texts.add(new String(tag, StandardCharsets.UTF_8));
        }
        return texts;
    }

    /**
     * Returns the hashes of the tags, without their site; see {@link TagKey}. Borrowed. Allocates at the first call
     * only.
     *
     * @param url the URL of the response, the same at every call
     */
    public long[] hashes(TagKey key, TargetUri url) {
        return isEmpty() ? NO_HASHES : of(key, url).tags;
    }

    /** Returns the hash of the site. */
    public long siteHash(TagKey key, TargetUri url) {
        return of(key, url).site;
    }

    @SuppressWarnings("ReferenceEquality") // a key is loaded once; another instance only means hashing again
    private Hashes of(TagKey key, TargetUri url) {
        Hashes known = hashes;
        if (known == null || known.key != key) {
            known = compute(key, site == null ? url.host() : site);
            hashes = known;
        }
        return known;
    }

    private Hashes compute(TagKey key, String siteName) {
        long[] tags = new long[count];
        int number = 0;
        int start = 0;
        for (int at = 0; at < packed.length; at++) {
            if (packed[at] == SEPARATOR) {
                tags[number++] = key.tag(packed, start, at);
                start = at + 1;
            }
        }
        return new Hashes(key, key.site(siteName), tags);
    }

    /** Returns the retained size on the heap in bytes, with hashes. */
    public int heapBytes() {
        return isEmpty() ? 0 : 136 + packed.length + 8 * count + (site == null ? 0 : 56 + site.length());
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Tags that && Objects.equals(site, that.site) && Arrays.equals(packed, that.packed);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(packed);
    }

    @Override
    public String toString() {
        return texts() + (site == null ? "" : " of " + site);
    }
}
