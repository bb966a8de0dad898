package io.millrace.proxy.caching.tags;

/**
 * The cache groups and the tags of a response. Immutable.
 *
 * @param groups hashes of its cache groups (RFC 9875), in rising order; borrowed, and never to be changed
 * @param tags its tags
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record Labels(long[] groups, Tags tags) {
    /** Of a response that belongs to nothing. */
    public static final Labels NONE = new Labels(new long[0], Tags.NONE);

    /** Labels; the same instance for every response without any. */
    public static Labels of(long[] groups, Tags tags) {
        return groups.length == 0 && tags.isEmpty() ? NONE : new Labels(groups, tags);
    }
}
