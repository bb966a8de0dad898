package io.millrace.proxy.caching;

import io.millrace.proxy.caching.tags.Labels;
import io.millrace.proxy.http.TargetUri;
import org.jspecify.annotations.Nullable;

/**
 * The invalidations in force. Each has a stamp, a number higher than all earlier stamps. An invalidation outdates every
 * response in its scope whose fetch began at a lower stamp. The response may be stored in RAM, on disk or in part, or
 * still being received.
 *
 * <p>Thread-safe. Allocates nothing if nothing was invalidated since the fetch of the response began.
 */
@FunctionalInterface
public interface Invalidations {
    /** Groups of a response that belongs to no cache group. */
    long[] NO_GROUPS = {};

    /** Nothing was ever invalidated. */
    Invalidations NONE = (url, stamp, labels) -> null;

    /**
     * Finds the invalidation that outdates a response. Purges by pattern are not included.
     *
     * @param url the URL of the request that the response would answer
     * @param stamp the stamp when its fetch began ({@link StoredHead#stamp})
     * @param labels its cache groups and tags ({@link StoredHead#labels})
     * @return null for none
     */
    @Nullable
    Outdated of(TargetUri url, long stamp, Labels labels);

    /**
     * Returns the time since which a soft invalidation has made a response stale. If several soft invalidations apply,
     * the earliest counts. A repeated invalidation has the time of its last repetition.
     *
     * @param bodyBytes length of its content; {@link StoredHead#UNKNOWN} if it is not known
     * @return epoch milliseconds; -1 for none
     */
    default long staleSinceMillis(TargetUri url, StoredHead head, long bodyBytes) {
        return -1;
    }

    /** Like {@link #staleSinceMillis(TargetUri, StoredHead, long)}, with the content length in the head. */
    default long staleSinceMillis(TargetUri url, StoredHead head) {
        return staleSinceMillis(url, head, head.contentLength());
    }

    /**
     * Returns the stamp of a purge by URL, group or tag that has outdated a response.
     *
     * @param kind the result of {@link #of(TargetUri, long, Labels)} for the response
     * @return the stamp of one such purge; 0 when not known
     */
    default long purgeStamp(TargetUri url, long stamp, Labels labels, Outdated kind) {
        return 0;
    }

    /**
     * Finds the invalidation that outdates a stored response. Purges by pattern are included.
     *
     * @param bodyBytes length of its content; {@link StoredHead#UNKNOWN} if it is not known
     * @return null for none
     */
    default @Nullable Outdated of(TargetUri url, StoredHead head, long bodyBytes) {
        return of(url, head.stamp(), head.labels());
    }

    /** Like {@link #of(TargetUri, StoredHead, long)}, with the content length in the head. */
    default @Nullable Outdated of(TargetUri url, StoredHead head) {
        return of(url, head, head.contentLength());
    }

    /**
     * Finds an invalidation that may outdate a response that is being received. A purge by pattern is found if its
     * condition may hold for a response with this URL.
     *
     * @param stamp the stamp when its fetch began
     * @param labels its cache groups and tags, as far as they are known
     * @return null for none
     */
    default @Nullable Outdated ofFetch(TargetUri url, long stamp, Labels labels) {
        return of(url, stamp, labels);
    }

    /**
     * Returns the stamp of a purge that has outdated a stored response.
     *
     * @param kind the result of {@link #of(TargetUri, StoredHead, long)} for the response
     * @return the stamp of one such purge; 0 when not known
     */
    default long purgeStamp(TargetUri url, StoredHead head, long bodyBytes, Outdated kind) {
        return purgeStamp(url, head.stamp(), head.labels(), kind);
    }
}
