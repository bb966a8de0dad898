package io.millrace.proxy.caching;

import io.millrace.proxy.caching.tags.Labels;
import io.millrace.proxy.http.TargetUri;
import org.jspecify.annotations.Nullable;

/**
 * The invalidations in force. Each has a stamp, a number higher than that of every one before, and outdates what it covers and
 * what was asked for under a lower stamp: in RAM, on disk, in parts, or still on its way.
 *
 * <p>Thread-safe; allocates nothing where nothing was invalidated since the response was asked for.
 */
@FunctionalInterface
public interface Invalidations {
    /** Of a response that belongs to no cache group. */
    long[] NO_GROUPS = {};

    /** Nothing was ever invalidated. */
    Invalidations NONE = (url, stamp, labels) -> null;

    /**
     * What outdates a response.
     *
     * @param url the URL that it would answer for
     * @param stamp the stamp when its fetch began ({@link StoredHead#stamp})
     * @param labels its cache groups and tags ({@link StoredHead#labels})
     * @return null when nothing does
     */
    @Nullable
    Outdated of(TargetUri url, long stamp, Labels labels);

    /**
     * Since when a response is stale that a soft invalidation has outdated; of several by that which came first, as far as they
     * are known one by one: a repeated one counts when it was last repeated.
     *
     * @return epoch milliseconds; -1 when none has
     */
    default long staleSinceMillis(TargetUri url, StoredHead head) {
        return -1;
    }

    /**
     * The stamp of the purge that has outdated a response; of several, one.
     *
     * @param by what {@link #of} said of it
     * @return 0 when not known
     */
    default long purgeStamp(TargetUri url, long stamp, Labels labels, Outdated by) {
        return 0;
    }

    /** As {@link #of(TargetUri, long, Labels)}. */
    default @Nullable Outdated of(TargetUri url, StoredHead head) {
        return of(url, head.stamp(), head.labels());
    }
}
