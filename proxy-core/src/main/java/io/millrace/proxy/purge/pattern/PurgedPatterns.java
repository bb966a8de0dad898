package io.millrace.proxy.purge.pattern;

import io.millrace.proxy.caching.Outdated;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.key.CacheKey;
import io.millrace.proxy.expression.stored.StoredUrl;
import io.millrace.proxy.http.TargetUri;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The purges by pattern, with which lookups compare stored responses. A purge is <em>live</em> until a sweep has
 * removed or marked every covered response, then <em>retired</em>. The latest retired purges are kept for fetches
 * that began before the purge and still run. Dropped retired purges leave their highest stamp, the floor: it
 * outdates all fetches that began under a lower stamp. A stamp is a number that increases with each purge.
 *
 * <p>Immutable: each change creates a new list with the next epoch number.
 */
public final class PurgedPatterns {
    /** Limit of live purges. */
    public static final int MAX = 64;

    /** The reason for the refusal of a purge by pattern at the limit. */
    public static final String FULL = MAX
            + " purges by pattern are in force, which is the limit; soft ones are in force until purge.undo_window has"
            + " passed; repeat this purge when some of them are complete, or end one by millctl purge cancel";

    /** Limit of retired purges that are kept. */
    private static final int RETIRED_MAX = 64;

    /** The list before the first purge. */
    public static final PurgedPatterns NONE = new PurgedPatterns(1, List.of(), List.of(), 0);

    private final int epoch;
    private final List<PurgedPattern> live;
    private final List<PurgedPattern> retired;
    /** The highest stamp of dropped retired purges. */
    private final long floor;

    private PurgedPatterns(int epoch, List<PurgedPattern> live, List<PurgedPattern> retired, long floor) {
        this.epoch = epoch;
        this.live = List.copyOf(live);
        this.retired = List.copyOf(retired);
        this.floor = floor;
    }

    /** Returns the live purges, oldest first. */
    public List<PurgedPattern> live() {
        return live;
    }

    /** Returns true if no purge is live. */
    public boolean isEmpty() {
        return live.isEmpty();
    }

    /** Returns true if the limit of live purges is reached. */
    public boolean isFull() {
        return live.size() >= MAX;
    }

    /** Returns true if the purge with the stamp is live. */
    public boolean isLive(long stamp) {
        return find(live, stamp) != null;
    }

    /** Returns a list with another live purge, or this list if it contains a purge with that stamp. */
    public PurgedPatterns with(PurgedPattern pattern) {
        if (find(live, pattern.stamp()) != null || find(retired, pattern.stamp()) != null) {
            return this;
        }
        List<PurgedPattern> more = new ArrayList<>(live);
        more.add(pattern);
        return new PurgedPatterns(epoch + 1, more, retired, floor);
    }

    /** Returns a list in which the live purge with a stamp is retired. */
    public PurgedPatterns retire(long stamp) {
        PurgedPattern pattern = find(live, stamp);
        if (pattern == null) {
            return this;
        }
        List<PurgedPattern> stillLive = new ArrayList<>(live);
        stillLive.remove(pattern);
        List<PurgedPattern> nowRetired = new ArrayList<>(retired);
        nowRetired.add(pattern);
        long raised = floor;
        if (nowRetired.size() > RETIRED_MAX) {
            raised = Math.max(raised, nowRetired.remove(0).stamp());
        }
        return new PurgedPatterns(epoch + 1, stillLive, nowRetired, raised);
    }

    /** Returns a list without the purge with a stamp, live or retired. */
    public PurgedPatterns without(long stamp) {
        if (find(live, stamp) == null && find(retired, stamp) == null) {
            return this;
        }
        List<PurgedPattern> liveWithout = new ArrayList<>(live);
        liveWithout.removeIf(pattern -> pattern.stamp() == stamp);
        List<PurgedPattern> retiredWithout = new ArrayList<>(retired);
        retiredWithout.removeIf(pattern -> pattern.stamp() == stamp);
        return new PurgedPatterns(epoch + 1, liveWithout, retiredWithout, floor);
    }

    /**
     * Returns a list without the live purges that purges of everything cover.
     *
     * @param hard stamp of the last hard purge of everything
     * @param soft stamp of the last soft purge of everything
     */
    public PurgedPatterns above(long hard, long soft) {
        List<PurgedPattern> uncovered = new ArrayList<>();
        for (PurgedPattern pattern : live) {
            if (pattern.stamp() > (pattern.isSoft() ? Math.max(hard, soft) : hard)) {
                uncovered.add(pattern);
            }
        }
        return uncovered.size() == live.size() ? this : new PurgedPatterns(epoch + 1, uncovered, retired, floor);
    }

    private static @Nullable PurgedPattern find(List<PurgedPattern> in, long stamp) {
        for (PurgedPattern pattern : in) {
            if (pattern.stamp() == stamp) {
                return pattern;
            }
        }
        return null;
    }

    /**
     * Finds a live purge that covers a stored response, preferably a hard purge. If there is none and the length is
     * known, the epoch is noted in the head, so that the next call with this list costs only one comparison.
     *
     * @param bodyBytes length of the content; -1 if it is not known
     */
    public @Nullable Outdated find(TargetUri url, StoredHead head, long bodyBytes) {
        if (live.isEmpty() || head.isUnmatchedBy(epoch)) {
            return null;
        }
        StoredUrl key = of(url);
        Outdated found = null;
        for (int i = 0; i < live.size(); i++) {
            PurgedPattern pattern = live.get(i);
            if ((found == null || !pattern.isSoft()) && pattern.covers(key, head, bodyBytes)) {
                if (!pattern.isSoft()) {
                    return Outdated.BY_PATTERN;
                }
                found = Outdated.STALE_BY_PATTERN;
            }
        }
        if (found == null && bodyBytes >= 0) {
            head.noteUnmatchedBy(epoch);
        }
        return found;
    }

    /** Finds a purge that may cover the response of a fetch. The fetch began under {@code stamp}. */
    public @Nullable Outdated findForFetch(TargetUri url, long stamp) {
        if (stamp < floor) {
            return Outdated.BY_PATTERN;
        }
        if (live.isEmpty() && retired.isEmpty()) {
            return null;
        }
        StoredUrl key = of(url);
        Outdated byLive = findForFetch(live, key, stamp);
        Outdated byRetired = byLive != null && !byLive.isSoft() ? null : findForFetch(retired, key, stamp);
        return byRetired == null || (byLive != null && byRetired.isSoft()) ? byLive : byRetired;
    }

    private static @Nullable Outdated findForFetch(List<PurgedPattern> in, StoredUrl key, long stamp) {
        Outdated found = null;
        for (int i = 0; i < in.size(); i++) {
            PurgedPattern pattern = in.get(i);
            if (stamp < pattern.stamp() && (found == null || !pattern.isSoft()) && pattern.couldCover(key)) {
                if (!pattern.isSoft()) {
                    return Outdated.BY_PATTERN;
                }
                found = Outdated.STALE_BY_PATTERN;
            }
        }
        return found;
    }

    /**
     * Returns the stamp of the newest live purge of the given kind that covers a stored response. Returns 0 for none.
     *
     * @param bodyBytes length of the content; -1 if it is not known
     * @param softly true for soft purges, false for hard purges
     */
    public long newestStamp(TargetUri url, StoredHead head, long bodyBytes, boolean softly) {
        long newest = 0;
        StoredUrl key = live.isEmpty() ? null : of(url);
        for (PurgedPattern pattern : live) {
            if (key != null && pattern.isSoft() == softly && pattern.covers(key, head, bodyBytes)) {
                newest = Math.max(newest, pattern.stamp());
            }
        }
        return newest;
    }

    /**
     * Returns the time of the earliest live soft purge that covers a stored response, in epoch milliseconds.
     * Returns {@link Long#MAX_VALUE} for none.
     *
     * @param bodyBytes length of the content; -1 if it is not known
     */
    public long firstSoftMillis(TargetUri url, StoredHead head, long bodyBytes) {
        long first = Long.MAX_VALUE;
        if (live.isEmpty()) {
            return first;
        }
        StoredUrl key = of(url);
        for (PurgedPattern pattern : live) {
            if (pattern.isSoft() && pattern.covers(key, head, bodyBytes)) {
                first = Math.min(first, pattern.millis());
            }
        }
        return first;
    }

    private static StoredUrl of(TargetUri url) {
        return StoredUrl.ofKey(CacheKey.of(url).bytes());
    }
}
