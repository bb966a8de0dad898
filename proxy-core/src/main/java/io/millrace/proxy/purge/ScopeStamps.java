package io.millrace.proxy.purge;

import static io.millrace.proxy.purge.ScopeHash.hostHash;
import static io.millrace.proxy.purge.ScopeHash.urlHash;

import io.millrace.proxy.caching.Outdated;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.tags.Labels;
import io.millrace.proxy.http.TargetUri;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The stamps of purged scopes: everything, hosts, prefixes, URLs, groups and tags. A stamp is a number that
 * increases with each purge; it outdates covered responses with a lower stamp. Hard stamps (responses are gone) and
 * soft stamps (responses are stale) are separate. Each table has a limit. A full table removes stamps that a wider
 * stamp covers. Then it raises a floor, which is a stamp for everything, for all groups or for all tags.
 *
 * <p>Any thread may read without a lock. Changes need the lock of the owner, {@link InvalidationTable}.
 */
final class ScopeStamps {
    private static final Logger log = LoggerFactory.getLogger(InvalidationTable.class);

    private final HashedStamps hosts;
    private final LabelStamps groups;
    private final TagStamps tags;
    private final HashedStamps urls;
    /** Guarded by the owner's lock. */
    private final UndoLog undos;

    private volatile PrefixStamps prefixes = PrefixStamps.NONE;
    private volatile long hard;
    private volatile long soft;
    /** See {@link #journalCreationStamp()}. */
    private volatile long journalCreationStamp;
    /**
     * The last value of {@link #hard} that a full table set; 0 for none. If the two differ, a purge of everything set
     * {@link #hard}.
     */
    private volatile long hardFloor;

    /**
     * The last value of {@link #soft} that a full table set; 0 for none. If the two differ, a purge of everything set
     * {@link #soft}.
     */
    private volatile long softFloor;

    /**
     * Creates an empty table.
     *
     * @param undos the soft purges that can be undone; shared with the owner
     */
    ScopeStamps(int hostsMax, int groupsMax, TagStamps tags, int urlsMax, UndoLog undos) {
        hosts = new HashedStamps(hostsMax);
        groups = new LabelStamps(groupsMax);
        urls = new HashedStamps(urlsMax);
        this.tags = tags;
        this.undos = undos;
    }

    /** The hard stamp of everything. */
    long hard() {
        return hard;
    }

    /** The soft stamp that everything would have after an undo of every purge that can be undone. */
    long softStampAfterUndo() {
        return undos.stampAfterUndo(soft);
    }

    /** The stamps of tags. */
    TagStamps tags() {
        return tags;
    }

    /** The soft stamp of a host; 0 for none. */
    long hostSoft(long host) {
        return hosts.soft(host);
    }

    /** The prefixes of a host. */
    InvalidationEntry[] prefixes(long host) {
        return prefixes.of(host);
    }

    /**
     * Returns how a response is outdated; null if it is current. Probes narrow scopes before wide scopes: a
     * writer sets a wide stamp before it removes the narrow stamps, so a reader misses neither.
     */
    @Nullable
    Outdated findOutdated(TargetUri url, long stamp, Labels labels) {
        long host = hostHash(url);
        PrefixStamps prefixLists = prefixes;
        Outdated found = findSoft(url, stamp, labels, host, prefixLists);
        if (tags.outdates(url, stamp, labels.tags(), false)) {
            found = Outdated.BY_TAG;
        }
        if (urls.hasAny(false) && stamp < urls.hard(urlHash(url))) {
            found = Outdated.BY_URL;
        }
        if (groups.outdates(labels.groups(), stamp, false)) {
            found = Outdated.BY_GROUP;
        }
        if (!prefixLists.isEmpty() && prefixLists.find(host, url, stamp, false) != null) {
            found = Outdated.BY_PREFIX;
        }
        if (stamp < hosts.hard(host)) {
            found = Outdated.BY_HOST;
        }
        if (stamp < journalCreationStamp && stamp > 0) {
            found = Outdated.BY_LOSS;
        }
        return stamp < hard ? Outdated.BY_ALL : found;
    }

    /**
     * The stamp at the creation of the journal of purges; 0 for none. An earlier journal may have been lost, so
     * responses with a lower stamp above 0 are outdated.
     */
    long journalCreationStamp() {
        return journalCreationStamp;
    }

    private @Nullable Outdated findSoft(TargetUri url, long stamp, Labels labels, long host, PrefixStamps prefixLists) {
        Outdated found = null;
        if (urls.hasAny(true) && stamp < urls.soft(urlHash(url))) {
            found = Outdated.STALE_BY_URL;
        }
        if (tags.outdates(url, stamp, labels.tags(), true)) {
            found = Outdated.STALE_BY_TAG;
        }
        if (groups.outdates(labels.groups(), stamp, true)) {
            found = Outdated.STALE_BY_GROUP;
        }
        if (!prefixLists.isEmpty() && prefixLists.find(host, url, stamp, true) != null) {
            found = Outdated.STALE_BY_PREFIX;
        }
        if (stamp < hosts.soft(host)) {
            found = Outdated.STALE_BY_HOST;
        }
        return stamp < soft ? Outdated.STALE_BY_ALL : found;
    }

    /** Returns the earliest soft stamp that outdates a response; {@link Long#MAX_VALUE} for none. */
    long firstSoft(TargetUri url, StoredHead head) {
        long stamp = head.stamp();
        long host = hostHash(url);
        long first = earlier(Long.MAX_VALUE, hosts.soft(host), stamp);
        InvalidationEntry prefix = prefixes.isEmpty() ? null : prefixes.find(host, url, stamp, true);
        first = earlier(first, prefix == null ? 0 : prefix.stamp(), stamp);
        for (long group : head.groups()) {
            first = earlier(first, groups.stamp(group, true), stamp);
        }
        first = head.groups().length == 0 ? first : earlier(first, groups.floor(true), stamp);
        first = Math.min(first, tags.firstSoft(url, stamp, head.tags()));
        first = urls.hasAny(true) ? earlier(first, urls.soft(urlHash(url)), stamp) : first;
        return earlier(first, soft, stamp);
    }

    /** Returns the earlier of two soft stamps. Ignores one that does not outdate a response with {@code stamp}. */
    private static long earlier(long first, long softStamp, long stamp) {
        return softStamp > stamp ? Math.min(first, softStamp) : first;
    }

    /**
     * Returns the stamp of a purge that outdates a response for a given reason.
     *
     * @param responseStamp the stamp of the response
     * @param outdated the reason: the result of {@link #findOutdated} for the response
     * @return 0 if no single purge is the reason, for example because a full table raised a floor
     */
    long purgeStamp(TargetUri url, long responseStamp, Labels labels, Outdated outdated) {
        boolean softly = outdated.isSoft();
        long stamp =
                switch (outdated) {
                    case BY_ALL -> hard == hardFloor ? 0 : hard;
                    case STALE_BY_ALL -> soft == softFloor ? 0 : soft;
                    case BY_HOST -> hosts.hard(hostHash(url));
                    case STALE_BY_HOST -> hosts.soft(hostHash(url));
                    case BY_PREFIX, STALE_BY_PREFIX -> {
                        InvalidationEntry found = prefixes.find(hostHash(url), url, responseStamp, softly);
                        yield found == null ? 0 : found.stamp();
                    }
                    case BY_GROUP, STALE_BY_GROUP -> newestOfGroups(labels.groups(), softly);
                    case BY_TAG, STALE_BY_TAG -> tags.newest(url, responseStamp, labels.tags(), softly);
                    case STALE_BY_URL -> urls.soft(urlHash(url));
                    case BY_URL -> urls.hard(urlHash(url));
                    case BY_LOSS, BY_PATTERN, STALE_BY_PATTERN -> 0;
                };
        return stamp > responseStamp ? stamp : 0;
    }

    /**
     * Returns the hard stamp of a scope; 0 for none. A hard purge of one URL removes the response from the store. It
     * also sets a stamp if an extension extends the cache key, because the URL then has several keys.
     */
    long hardStamp(InvalidationScope scope) {
        return switch (scope.kind()) {
            case ALL -> hard;
            case HOST -> hosts.hard(scope.hash());
            case GROUP -> groups.stamp(scope.hash(), false);
            case TAG, TAG_EVERYWHERE ->
                tags.stamps().stamp(tags.entry(scope, false, 1).hash(), false);
            case PREFIX -> hardStampOfPrefix(scope);
            case URL -> urls.hard(scope.hash());
            case ALL_GROUPS,
                    ALL_TAGS,
                    JOURNAL_LOST,
                    TAG_KEY,
                    TAGS,
                    UNDONE,
                    PATTERN,
                    PATTERN_RETIRED,
                    FLEET_POSITION,
                    FLEET_PURGE -> 0;
        };
    }

    private long hardStampOfPrefix(InvalidationScope scope) {
        long stamp = 0;
        for (InvalidationEntry entry : prefixes.of(scope.hash())) {
            if (!entry.isSoft() && Arrays.equals(entry.prefix(), scope.prefix())) {
                stamp = Math.max(stamp, entry.stamp());
            }
        }
        return stamp;
    }

    private long newestOfGroups(long[] hashes, boolean softly) {
        long newestOne = 0;
        for (long group : hashes) {
            newestOne = Math.max(newestOne, groups.stamp(group, softly));
        }
        return newestOne;
    }

    /**
     * Raises the stamps of an entry.
     *
     * @return the entry; a purge of the whole host if a limit of prefixes is reached
     */
    InvalidationEntry put(InvalidationEntry entry) {
        long stamp = entry.stamp();
        switch (entry.kind()) {
            case ALL -> raiseAll(stamp, entry.isSoft());
            case ALL_GROUPS -> {
                groups.raiseFloor(stamp, entry.isSoft());
                groups.forgetCovered(hard, undos.stampAfterUndo(soft));
            }
            case ALL_TAGS -> {
                tags.stamps().raiseFloor(stamp, entry.isSoft());
                tags.stamps().forgetCovered(hard, undos.stampAfterUndo(soft));
            }
            case JOURNAL_LOST -> journalCreationStamp = Math.max(journalCreationStamp, stamp);
            case HOST -> {
                putHashed(hosts, entry, "hosts");
                prefixes = prefixes.without(entry);
            }
            case PREFIX -> {
                PrefixStamps withEntry = prefixes.with(entry);
                if (withEntry == null) {
                    return put(InvalidationEntry.of(InvalidationKind.HOST, entry.isSoft(), stamp, entry.hash()));
                }
                prefixes = withEntry;
            }
            case GROUP -> {
                while (!groups.raise(entry.hash(), stamp, entry.isSoft())) {
                    makeSpace(groups, "groups", "everything with a cache group");
                }
            }
            case URL -> putHashed(urls, entry, "URLs");
            case TAG, TAG_EVERYWHERE -> {
                while (!tags.put(entry)) {
                    makeSpace(tags.stamps(), "tags", "everything with a tag");
                }
            }
            case TAGS -> {
                for (InvalidationEntry one : TagStamps.unpack(entry)) {
                    put(one);
                }
            }
            case TAG_KEY -> tags.adopt(entry);
            // InvalidationTable keeps entries of these kinds.
            case PATTERN, PATTERN_RETIRED, UNDONE, FLEET_POSITION, FLEET_PURGE -> {}
        }
        return entry;
    }

    private void putHashed(HashedStamps table, InvalidationEntry entry, String tableName) {
        while (!table.raise(entry.hash(), entry.stamp(), entry.isSoft())) {
            makeSpace(table, tableName);
        }
    }

    private void raiseAll(long stamp, boolean softly) {
        if (softly) {
            soft = Math.max(soft, stamp);
        } else {
            hard = Math.max(hard, stamp);
        }
    }

    /**
     * Removes stamps that wider stamps cover. Call after the wider stamps were raised, so that a reader always finds
     * one of the two.
     */
    void forgetCovered() {
        soft = soft > hard ? soft : 0;
        long stampAfterUndo = undos.stampAfterUndo(soft);
        hosts.forget(hard, stampAfterUndo);
        urls.forget(hard, stampAfterUndo);
        prefixes = prefixes.above(hard, stampAfterUndo);
        groups.forgetCovered(hard, stampAfterUndo);
        tags.stamps().forgetCovered(hard, stampAfterUndo);
    }

    /** Raises the stamp of everything, because a table is full. Purges below this stamp cannot be undone any more. */
    private void raiseFloor(long floor, boolean softly) {
        undos.dropUpTo(floor);
        if (!softly) {
            hard = Math.max(hard, floor);
            hardFloor = hard == floor ? floor : hardFloor;
        } else if (!undos.raiseStampAfterUndo(floor)) {
            soft = Math.max(soft, floor);
            softFloor = soft == floor ? floor : softFloor;
        }
    }

    private void makeSpace(HashedStamps table, String tableName) {
        forgetCovered();
        for (boolean softly = true; !table.hasRoom(); softly = !softly) {
            long floor = table.median(softly);
            raiseFloor(floor, softly);
            forgetCovered();
            logFull(tableName, floor, softly, "everything");
        }
    }

    private void makeSpace(LabelStamps table, String tableName, String affected) {
        table.forgetCovered(hard, undos.stampAfterUndo(soft));
        for (boolean softly = true; !table.hasRoom(); softly = !softly) {
            long floor = table.raiseFloorToMedian(softly);
            undos.dropUpTo(floor);
            table.forgetCovered(hard, undos.stampAfterUndo(soft));
            logFull(tableName, floor, softly, affected);
        }
    }

    private static void logFull(String tableName, long floor, boolean softly, String affected) {
        if (floor > 0) {
            log.warn(
                    "the table of invalidated {} is full: {} requested before {} counts as {}",
                    tableName,
                    affected,
                    Instant.ofEpochMilli(floor >>> InvalidationTable.STAMP_BITS),
                    softly ? "stale" : "gone");
        }
    }

    /** Returns the soft stamp in force for the scope of an entry. Returns 0 for none and for a prefix. */
    long softStamp(InvalidationEntry entry) {
        return switch (entry.kind()) {
            case ALL -> soft;
            case HOST -> hosts.soft(entry.hash());
            case URL -> urls.soft(entry.hash());
            case GROUP -> groups.stamp(entry.hash(), true);
            case TAG, TAG_EVERYWHERE ->
                tags.hasCurrentKey(entry) ? tags.stamps().stamp(entry.hash(), true) : 0;
            case PREFIX,
                    ALL_GROUPS,
                    ALL_TAGS,
                    JOURNAL_LOST,
                    TAG_KEY,
                    TAGS,
                    UNDONE,
                    PATTERN,
                    PATTERN_RETIRED,
                    FLEET_POSITION,
                    FLEET_PURGE -> 0;
        };
    }

    /**
     * Undoes an entry. Restores the displaced stamps before it removes the entry, so that a reader always finds one of
     * them.
     */
    void revert(InvalidationEntry undone, List<InvalidationEntry> displaced) {
        long before = 0;
        if (undone.kind() == InvalidationKind.PREFIX) {
            prefixes = prefixes.replaced(undone, displaced);
            return;
        }
        for (InvalidationEntry entry : displaced) {
            if (entry.kind() == InvalidationKind.PREFIX) {
                prefixes = prefixes.replaced(entry, List.of(entry));
            } else {
                before = Math.max(before, entry.stamp());
            }
        }
        switch (undone.kind()) {
            case ALL -> soft = soft == undone.stamp() ? before : soft;
            case HOST -> hosts.lowerSoft(undone.hash(), undone.stamp(), before);
            case URL -> urls.lowerSoft(undone.hash(), undone.stamp(), before);
            case GROUP -> groups.lowerSoft(undone.hash(), undone.stamp(), before);
            case TAG, TAG_EVERYWHERE -> {
                if (tags.hasCurrentKey(undone)) {
                    tags.stamps().lowerSoft(undone.hash(), undone.stamp(), before);
                }
            }
            case PREFIX,
                    ALL_GROUPS,
                    ALL_TAGS,
                    JOURNAL_LOST,
                    TAG_KEY,
                    TAGS,
                    UNDONE,
                    PATTERN,
                    PATTERN_RETIRED,
                    FLEET_POSITION,
                    FLEET_PURGE -> {}
        }
    }

    /** Removes stamps of 0, which undone entries have left. */
    void removeZeros() {
        hosts.removeZeros();
        urls.removeZeros();
        groups.removeZeros();
        tags.stamps().removeZeros();
    }

    /** Adds the entries that the journal must keep for a restart. */
    void addTo(List<InvalidationEntry> all) {
        add(all, InvalidationKind.ALL, 0, hard, soft);
        add(all, InvalidationKind.ALL_GROUPS, 0, groups.floor(false), groups.floor(true));
        add(all, InvalidationKind.JOURNAL_LOST, 0, journalCreationStamp, 0);
        LabelStamps tagged = tags.stamps();
        add(all, InvalidationKind.ALL_TAGS, 0, tagged.floor(false), tagged.floor(true));
        for (boolean softly : new boolean[] {false, true}) {
            hosts.forEach(
                    softly, (hash, stamp) -> all.add(InvalidationEntry.of(InvalidationKind.HOST, softly, stamp, hash)));
            urls.forEach(
                    softly, (hash, stamp) -> all.add(InvalidationEntry.of(InvalidationKind.URL, softly, stamp, hash)));
            groups.forEach(
                    softly,
                    (hash, stamp) -> all.add(InvalidationEntry.of(InvalidationKind.GROUP, softly, stamp, hash)));
        }
        prefixes.addTo(all);
        tags.addTo(all);
    }

    static void add(List<InvalidationEntry> all, InvalidationKind kind, long hash, long hardStamp, long softStamp) {
        if (hardStamp > 0) {
            all.add(InvalidationEntry.of(kind, false, hardStamp, hash));
        }
        if (softStamp > 0) {
            all.add(InvalidationEntry.of(kind, true, softStamp, hash));
        }
    }

    /** Returns the number of entries in force of one kind of scope. */
    int entries(InvalidationKind kind) {
        return switch (kind) {
            case ALL -> (hard > 0 ? 1 : 0) + (soft > 0 ? 1 : 0);
            case ALL_GROUPS -> groups.floors();
            case ALL_TAGS -> tags.stamps().floors();
            case JOURNAL_LOST -> journalCreationStamp > 0 ? 1 : 0;
            case HOST -> hosts.size();
            case PREFIX -> prefixes.size();
            case GROUP -> groups.size();
            case URL -> urls.size();
            case TAG -> tags.stamps().size();
            case UNDONE, PATTERN, TAG_EVERYWHERE, TAG_KEY, TAGS, PATTERN_RETIRED, FLEET_POSITION, FLEET_PURGE -> 0;
        };
    }
}
