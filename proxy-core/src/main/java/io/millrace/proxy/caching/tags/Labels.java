package io.millrace.proxy.caching.tags;

/**
 * The cache groups and the tags of a response. Immutable.
 *
 * @param groups hashes of the cache groups (RFC 9875), ascending; borrowed, must not be changed
 * @param tags the tags
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record Labels(long[] groups, Tags tags) {
    /** No groups and no tags. */
    public static final Labels NONE = new Labels(new long[0], Tags.NONE);

    /** Returns labels; {@link #NONE} if there are none. */
    public static Labels of(long[] groups, Tags tags) {
        return groups.length == 0 && tags.isEmpty() ? NONE : new Labels(groups, tags);
    }
}
