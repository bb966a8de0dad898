package io.millrace.proxy.purge;

import io.millrace.proxy.caching.Invalidations;
import io.millrace.proxy.caching.Outdated;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.tags.Labels;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.http.UriBytes;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The stamps of all invalidations in force. A response is outdated if a stamp that covers it is higher than its own.
 * There is one stamp for everything, one for each invalidated host, group, tag and URL, and a short list of prefixes
 * per host. Hard stamps (responses are gone) and soft stamps (responses are stale) are separate. A response with the
 * newest stamp costs one comparison. Any other response costs one probe of the hosts and one for each of its groups
 * and tags.
 *
 * <p>The size is limited. A full table first forgets the stamps that a wider stamp covers. Then it raises a
 * <em>floor</em>, which is the wide stamp of everything, of all groups or of all tags, to the median of the soft
 * stamps. If the table is still full, it raises the hard floor in the same way. Responses of recent requests stay
 * current.
 *
 * <p>Thread-safe: read without a lock, changed under a lock.
 */
public final class InvalidationTable implements Invalidations {
    /** Number of low bits for the stamps of one millisecond; the bits above are the time of day. */
    static final int STAMP_BITS = 20;

    private static final int HOSTS_MAX = 1 << 14;
    private static final int GROUPS_MAX = 1 << 16;
    private static final int TAGS_MAX = 1 << 20;
    private static final int URLS_MAX = 1 << 16;

    /** A lower bound of stamps that permits no undo. */
    private static final long NEVER = Long.MAX_VALUE;

    private static final Logger log = LoggerFactory.getLogger(InvalidationTable.class);

    private final ReentrantLock lock = new ReentrantLock();
    private final HashedStamps hosts;
    private final LabelStamps groups;
    private final TagStamps tags;
    private final HashedStamps urls;
    private volatile PrefixStamps prefixes = PrefixStamps.NONE;
    private volatile long hard;
    private volatile long soft;
    private volatile long stamped;
    /** Value of {@link #hard} that a full table has set; 0 if a purge of everything has set it. */
    private volatile long hardFloor;

    /** Value of {@link #soft} that a full table has set; 0 if a purge of everything has set it. */
    private volatile long softFloor;

    /** Guarded by the lock. */
    private final UndoLog undos = new UndoLog(UndoLog.ENTRIES_MAX);
    /** The highest stamp; set after its entries, so that a reader of this stamp finds them. */
    private volatile long newest;

    /** Creates an empty table. */
    public InvalidationTable() {
        this(HOSTS_MAX, GROUPS_MAX, new TagStamps(TAGS_MAX), URLS_MAX);
    }

    InvalidationTable(int hostsMax, int groupsMax) {
        this(hostsMax, groupsMax, new TagStamps(groupsMax), groupsMax);
    }

    private InvalidationTable(int hostsMax, int groupsMax, TagStamps tags, int urlsMax) {
        hosts = new HashedStamps(hostsMax);
        groups = new LabelStamps(groupsMax);
        urls = new HashedStamps(urlsMax);
        this.tags = tags;
    }

    /** Returns the stamp for requests from now on. */
    public long stamp() {
        return newest;
    }

    /** Returns the hash of a URL's host, with its port if not the default; http and https have the same hash. */
    public static long hostHash(TargetUri url) {
        long hash = 0xCBF2_9CE4_8422_2325L;
        for (byte b : url.hostBytes()) {
            hash = (hash ^ (b & 0xff)) * 0x100_0000_01B3L;
        }
        if (!url.isDefaultPort()) {
            hash = (hash ^ (0x10000 | url.port())) * 0x100_0000_01B3L;
        }
        hash = (hash ^ (hash >>> 32)) * 0xD6E8_FEB8_6659_FD93L;
        return hash ^ (hash >>> 32);
    }

    /** Returns the hash of a URL with the path in the normal form of cache keys; http and https have the same hash. */
    static long urlHash(TargetUri url) {
        byte[] bytes = url.targetBytes();
        int from = url.pathStart();
        int end = url.queryEnd();
        if (UriBytes.hasEncodingsToNormalize(bytes, from, url.pathEnd())) {
            bytes = PrefixStamps.normal(url);
            from = 0;
            end = bytes.length;
        }
        long hash = hostHash(url);
        for (int at = from; at < end; at++) {
            hash = (hash ^ (bytes[at] & 0xff)) * 0x100_0000_01B3L;
        }
        hash = (hash ^ (hash >>> 32)) * 0xD6E8_FEB8_6659_FD93L;
        return hash ^ (hash >>> 32);
    }

    @Override
    public @Nullable Outdated of(TargetUri url, long stamp, Labels labels) {
        return stamp >= newest ? null : seek(url, stamp, labels);
    }

    @Override
    public long staleSinceMillis(TargetUri url, StoredHead head) {
        long stamp = head.stamp();
        if (stamp >= newest) {
            return -1;
        }
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
        first = earlier(first, soft, stamp);
        return first == Long.MAX_VALUE ? -1 : first >>> STAMP_BITS;
    }

    private static long earlier(long first, long softStamp, long stamp) {
        return softStamp > stamp ? Math.min(first, softStamp) : first;
    }

    @Override
    public long purgeStamp(TargetUri url, long beyond, Labels labels, Outdated by) {
        boolean softly = by.isSoft();
        long stamp =
                switch (by) {
                    case BY_ALL -> hard == hardFloor ? 0 : hard;
                    case STALE_BY_ALL -> soft == softFloor ? 0 : soft;
                    case BY_HOST -> hosts.hard(hostHash(url));
                    case STALE_BY_HOST -> hosts.soft(hostHash(url));
                    case BY_PREFIX, STALE_BY_PREFIX -> {
                        InvalidationEntry found = prefixes.find(hostHash(url), url, beyond, softly);
                        yield found == null ? 0 : found.stamp();
                    }
                    case BY_GROUP, STALE_BY_GROUP -> newestOfGroups(labels.groups(), softly);
                    case BY_TAG, STALE_BY_TAG -> tags.newest(url, beyond, labels.tags(), softly);
                    case STALE_BY_URL -> urls.soft(urlHash(url));
                    case BY_LOSS -> 0;
                };
        return stamp > beyond ? stamp : 0;
    }

    /** Returns the hard stamp of a scope; 0 for none. */
    long hardStamp(InvalidationScope scope) {
        return switch (scope.kind()) {
            case ALL -> hard;
            case HOST -> hosts.hard(scope.hash());
            case GROUP -> groups.stamp(scope.hash(), false);
            case TAG, TAG_EVERYWHERE ->
                tags.stamps().stamp(tags.entry(scope, false, 1).hash(), false);
            case PREFIX -> hardStampOfPrefix(scope);
            case URL, ALL_GROUPS, ALL_TAGS, STAMPED, TAG_KEY, TAGS, UNDONE -> 0;
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
     * Probes narrow stamps before wide ones, because a wide stamp is set before the narrow ones below it are removed.
     */
    private @Nullable Outdated seek(TargetUri url, long stamp, Labels labels) {
        long host = hostHash(url);
        PrefixStamps lists = prefixes;
        Outdated found = seekSoft(url, stamp, labels, host, lists);
        if (tags.outdate(url, stamp, labels.tags(), false)) {
            found = Outdated.BY_TAG;
        }
        if (groups.outdate(labels.groups(), stamp, false)) {
            found = Outdated.BY_GROUP;
        }
        if (!lists.isEmpty() && lists.find(host, url, stamp, false) != null) {
            found = Outdated.BY_PREFIX;
        }
        if (stamp < hosts.hard(host)) {
            found = Outdated.BY_HOST;
        }
        if (stamp < stamped && stamp > 0) {
            found = Outdated.BY_LOSS;
        }
        return stamp < hard ? Outdated.BY_ALL : found;
    }

    private @Nullable Outdated seekSoft(TargetUri url, long stamp, Labels labels, long host, PrefixStamps lists) {
        Outdated found = null;
        if (urls.hasAny(true) && stamp < urls.soft(urlHash(url))) {
            found = Outdated.STALE_BY_URL;
        }
        if (tags.outdate(url, stamp, labels.tags(), true)) {
            found = Outdated.STALE_BY_TAG;
        }
        if (groups.outdate(labels.groups(), stamp, true)) {
            found = Outdated.STALE_BY_GROUP;
        }
        if (!lists.isEmpty() && lists.find(host, url, stamp, true) != null) {
            found = Outdated.STALE_BY_PREFIX;
        }
        if (stamp < hosts.soft(host)) {
            found = Outdated.STALE_BY_HOST;
        }
        return stamp < soft ? Outdated.STALE_BY_ALL : found;
    }

    /**
     * Adds an invalidation under the next stamp. When this returns, it outdates all covered responses of earlier
     * requests.
     *
     * @param hash hash of the host or group
     * @param prefix the prefix, else null; ownership passes to the table
     * @param stampMin lower bound of the stamp
     * @return the entry; that of the host if the host has too many prefixes
     */
    InvalidationEntry invalidate(
            InvalidationKind kind, boolean softly, long hash, byte @Nullable [] prefix, long stampMin) {
        lock.lock();
        try {
            long next = Math.max(newest + 1, stampMin);
            InvalidationEntry entry = prefix == null
                    ? InvalidationEntry.of(kind, softly, next, hash)
                    : InvalidationEntry.ofPrefix(softly, next, hash, prefix);
            return enter(entry, NEVER);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Adds a purge of several scopes under one stamp.
     *
     * @param undoableFrom the lowest stamp of soft purges that can be undone
     * @return the entries, in the order of the scopes; the host if it has too many prefixes
     */
    List<InvalidationEntry> invalidate(
            List<InvalidationScope> scopes, boolean softly, long stampMin, long undoableFrom) {
        lock.lock();
        try {
            long next = Math.max(newest + 1, stampMin);
            List<InvalidationEntry> entered = new ArrayList<>(scopes.size());
            for (InvalidationScope scope : scopes) {
                entered.add(put(entry(scope, softly, next), undoableFrom));
            }
            // Set after all entries, so that a fetch under this stamp sees each of them.
            newest = next;
            return entered;
        } finally {
            lock.unlock();
        }
    }

    private InvalidationEntry entry(InvalidationScope scope, boolean softly, long stamp) {
        byte[] prefix = scope.prefix();
        if (scope.tag() != null) {
            return tags.entry(scope, softly, stamp);
        }
        return prefix == null
                ? InvalidationEntry.of(scope.kind(), softly, stamp, scope.hash())
                : InvalidationEntry.ofPrefix(softly, stamp, scope.hash(), prefix);
    }

    /** Returns whether a soft purge can be undone. */
    boolean isUndoable(long stamp) {
        lock.lock();
        try {
            return undos.has(stamp);
        } finally {
            lock.unlock();
        }
    }

    /** Returns whether a soft purge was undone; false also after very many further undos. */
    boolean isUndone(long stamp) {
        lock.lock();
        try {
            return undos.isUndone(stamp);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Undoes a soft purge. Responses that only this purge made stale are as before.
     *
     * @return false if it cannot be undone; then nothing was changed
     */
    boolean undo(long stamp) {
        lock.lock();
        try {
            if (!undos.has(stamp)) {
                return false;
            }
            takeBack(stamp);
            return true;
        } finally {
            lock.unlock();
        }
    }

    private void takeBack(long stamp) {
        Map<InvalidationEntry, List<InvalidationEntry>> purge = undos.undo(stamp);
        if (purge == null) {
            return;
        }
        purge.forEach(this::takeBack);
        hosts.sweep();
        urls.sweep();
        groups.sweep();
        tags.stamps().sweep();
    }

    /** Restores displaced stamps before it removes the entry, so that a reader finds one of them. */
    private void takeBack(InvalidationEntry own, List<InvalidationEntry> displaced) {
        long before = 0;
        if (own.kind() == InvalidationKind.PREFIX) {
            prefixes = prefixes.replaced(own, displaced);
            return;
        }
        for (InvalidationEntry entry : displaced) {
            if (entry.kind() == InvalidationKind.PREFIX) {
                prefixes = prefixes.replaced(entry, List.of(entry));
            } else {
                before = Math.max(before, entry.stamp());
            }
        }
        switch (own.kind()) {
            case ALL -> soft = soft == own.stamp() ? before : soft;
            case HOST -> hosts.lowerSoft(own.hash(), own.stamp(), before);
            case URL -> urls.lowerSoft(own.hash(), own.stamp(), before);
            case GROUP -> groups.lowerSoft(own.hash(), own.stamp(), before);
            case TAG, TAG_EVERYWHERE -> {
                if (tags.isOfKey(own)) {
                    tags.stamps().lowerSoft(own.hash(), own.stamp(), before);
                }
            }
            case PREFIX, ALL_GROUPS, ALL_TAGS, STAMPED, TAG_KEY, TAGS, UNDONE -> {}
        }
    }

    /** Returns the soft stamp in force for the scope of an entry; 0 for none and for a prefix. */
    private long softStamp(InvalidationEntry entry) {
        return switch (entry.kind()) {
            case ALL -> soft;
            case HOST -> hosts.soft(entry.hash());
            case URL -> urls.soft(entry.hash());
            case GROUP -> groups.stamp(entry.hash(), true);
            case TAG, TAG_EVERYWHERE -> tags.isOfKey(entry) ? tags.stamps().stamp(entry.hash(), true) : 0;
            case PREFIX, ALL_GROUPS, ALL_TAGS, STAMPED, TAG_KEY, TAGS, UNDONE -> 0;
        };
    }

    /** Returns the lower soft stamp that an entry replaces; at most one. */
    private List<InvalidationEntry> displacedBy(InvalidationEntry entry) {
        List<InvalidationEntry> displaced = new ArrayList<>();
        long before = softStamp(entry);
        if (before > 0 && before < entry.stamp()) {
            displaced.add(forUndo(InvalidationEntry.ofTag(entry.kind(), true, before, entry.hash(), entry.keyId())));
        }
        return displaced;
    }

    /** Returns the entry with the key of tag hashes if the journal does not have it yet; else null. */
    @Nullable
    InvalidationEntry announceKey(long stampMin) {
        lock.lock();
        try {
            return tags.announceKey(Math.max(newest, stampMin));
        } finally {
            lock.unlock();
        }
    }

    /** Adds the entries of the journal, in any order. */
    void restore(List<InvalidationEntry> entries) {
        restore(entries, NEVER);
    }

    /**
     * Adds the entries of the journal, in any order. Entries may be known already, or older than known ones: in a
     * roll, the predecessor passes its purges one by one.
     *
     * @param undoableFrom the lowest stamp of soft purges that can be undone
     */
    void restore(List<InvalidationEntry> entries, long undoableFrom) {
        lock.lock();
        try {
            Set<Long> undone = new HashSet<>();
            List<InvalidationEntry> ofUndos = new ArrayList<>();
            // Order: keys of tags, undos, entries that no undo affects, purges that can be undone.
            for (InvalidationEntry entry : entries) {
                if (entry.kind() == InvalidationKind.TAG_KEY) {
                    enter(entry, NEVER);
                } else if (entry.kind() == InvalidationKind.UNDONE) {
                    undone.add(entry.stamp());
                    takeBack(entry.stamp());
                }
            }
            for (InvalidationEntry entry : entries) {
                boolean apart = entry.stamp() >= undoableFrom || undos.undoneCount() > 0;
                if (entry.kind() == InvalidationKind.TAGS && apart) {
                    for (InvalidationEntry one : TagStamps.unpacked(entry)) {
                        restore(one, undoableFrom, undone, ofUndos);
                    }
                } else if (entry.kind() != InvalidationKind.TAG_KEY && entry.kind() != InvalidationKind.UNDONE) {
                    restore(entry, undoableFrom, undone, ofUndos);
                }
            }
            ofUndos.sort(Comparator.comparingLong(InvalidationEntry::stamp));
            for (InvalidationEntry entry : ofUndos) {
                enter(entry, undoableFrom);
            }
            // Later stamps must be higher, even if the journal has no entry of the undone purge any more.
            for (long stamp : undone) {
                newest = Math.max(newest, stamp);
            }
        } finally {
            lock.unlock();
        }
    }

    private void restore(
            InvalidationEntry entry, long undoableFrom, Set<Long> undone, List<InvalidationEntry> ofUndos) {
        boolean wasUndone = undone.contains(entry.stamp()) || undos.isUndone(entry.stamp());
        if (entry.isSoft() && wasUndone) {
            newest = Math.max(newest, entry.stamp());
        } else if (entry.isSoft() && entry.stamp() >= undoableFrom) {
            ofUndos.add(entry);
        } else {
            enter(entry, NEVER);
        }
    }

    /** Adds an entry of the journal. Keys of tags must be added first; other entries may have any order. */
    void restore(InvalidationEntry entry) {
        lock.lock();
        try {
            enter(entry, NEVER);
        } finally {
            lock.unlock();
        }
    }

    private InvalidationEntry enter(InvalidationEntry wanted, long undoableFrom) {
        InvalidationEntry entry = put(wanted, undoableFrom);
        newest = Math.max(newest, entry.stamp());
        return entry;
    }

    private InvalidationEntry put(InvalidationEntry wanted, long undoableFrom) {
        if (undoableFrom != NEVER) {
            undos.dropUpTo(undoableFrom - 1);
        }
        boolean undoable = wanted.isSoft() && wanted.stamp() >= undoableFrom;
        if (!undoable) {
            InvalidationEntry entry = put(wanted);
            if (entry.kind() == InvalidationKind.ALL) {
                forgetCovered();
            }
            if (isLate(entry)) {
                undos.insertLate(forUndo(entry));
            }
            return entry;
        }
        InvalidationEntry[] prefixesBefore = prefixes.of(wanted.hash());
        List<InvalidationEntry> displaced = displacedBy(wanted);
        long hostBefore = hosts.soft(wanted.hash());
        InvalidationEntry entry = put(wanted);
        boolean widened = entry.kind() != wanted.kind();
        if (widened && hostBefore > 0) {
            displaced.add(InvalidationEntry.of(InvalidationKind.HOST, true, hostBefore, wanted.hash()));
        }
        if (entry.kind() == InvalidationKind.HOST || entry.kind() == InvalidationKind.PREFIX) {
            addMissing(prefixesBefore, entry, displaced);
        }
        if (isLate(entry)) {
            displaced.addAll(undos.insertLate(forUndo(entry)));
        }
        undos.add(forUndo(entry), displaced);
        return entry;
    }

    /** Returns whether a later soft purge of the same scope is in force, whose undo must restore this entry. */
    private boolean isLate(InvalidationEntry entry) {
        return entry.isSoft() && softStamp(entry) > entry.stamp();
    }

    /** Returns the entry for the undo log. Like packed entries of the journal it has one kind for all tags. */
    private static InvalidationEntry forUndo(InvalidationEntry entry) {
        return entry.kind() == InvalidationKind.TAG
                ? InvalidationEntry.ofTag(
                        InvalidationKind.TAG_EVERYWHERE, true, entry.stamp(), entry.hash(), entry.keyId())
                : entry;
    }

    private void addMissing(
            InvalidationEntry[] prefixesBefore, InvalidationEntry by, List<InvalidationEntry> displaced) {
        List<InvalidationEntry> left = List.of(prefixes.of(by.hash()));
        for (InvalidationEntry prefix : prefixesBefore) {
            if (prefix.isSoft() && prefix.stamp() < by.stamp() && !left.contains(prefix)) {
                displaced.add(prefix);
            }
        }
    }

    private InvalidationEntry put(InvalidationEntry entry) {
        long stamp = entry.stamp();
        switch (entry.kind()) {
            case ALL -> raiseAll(stamp, entry.isSoft());
            case ALL_GROUPS -> {
                groups.raiseFloor(stamp, entry.isSoft());
                groups.forgetCovered(hard, undos.settled(soft));
            }
            case ALL_TAGS -> {
                tags.stamps().raiseFloor(stamp, entry.isSoft());
                tags.stamps().forgetCovered(hard, undos.settled(soft));
            }
            case STAMPED -> stamped = Math.max(stamped, stamp);
            case HOST -> {
                putHashed(hosts, entry, "hosts");
                prefixes = prefixes.without(entry);
            }
            case PREFIX -> {
                PrefixStamps with = prefixes.with(entry);
                if (with == null) {
                    return put(InvalidationEntry.of(InvalidationKind.HOST, entry.isSoft(), stamp, entry.hash()));
                }
                prefixes = with;
            }
            case GROUP -> {
                while (!groups.raise(entry.hash(), stamp, entry.isSoft())) {
                    makeRoom(groups, "groups", "all of any group");
                }
            }
            case URL -> putHashed(urls, entry, "URLs");
            case TAG, TAG_EVERYWHERE -> {
                while (!tags.put(entry)) {
                    makeRoom(tags.stamps(), "tags", "all that has a tag");
                }
            }
            case TAGS -> {
                for (InvalidationEntry one : TagStamps.unpacked(entry)) {
                    put(one);
                }
            }
            case TAG_KEY -> tags.adopt(entry);
            case UNDONE -> {}
        }
        return entry;
    }

    private void putHashed(HashedStamps to, InvalidationEntry entry, String what) {
        while (!to.raise(entry.hash(), entry.stamp(), entry.isSoft())) {
            makeRoom(to, what);
        }
    }

    private void raiseAll(long stamp, boolean softly) {
        if (softly) {
            soft = Math.max(soft, stamp);
        } else {
            hard = Math.max(hard, stamp);
        }
    }

    /** Removes the stamps that wide stamps cover; call after raising those, so that a reader finds one of both. */
    private void forgetCovered() {
        soft = soft > hard ? soft : 0;
        long settled = undos.settled(soft);
        hosts.forget(hard, settled);
        urls.forget(hard, settled);
        prefixes = prefixes.above(hard, settled);
        groups.forgetCovered(hard, settled);
        tags.stamps().forgetCovered(hard, settled);
    }

    /** Raises the wide stamp of a full table. Purges below it cannot be undone. */
    private void raiseFloor(long floor, boolean softly) {
        undos.dropUpTo(floor);
        if (!softly) {
            hard = Math.max(hard, floor);
            hardFloor = hard == floor ? floor : hardFloor;
        } else if (!undos.raiseSettled(floor)) {
            soft = Math.max(soft, floor);
            softFloor = soft == floor ? floor : softFloor;
        }
    }

    private void makeRoom(HashedStamps in, String what) {
        forgetCovered();
        for (boolean softly = true; !in.hasRoom(); softly = !softly) {
            long floor = in.middle(softly);
            raiseFloor(floor, softly);
            forgetCovered();
            say(what, floor, softly, "everything");
        }
    }

    private void makeRoom(LabelStamps in, String what, String all) {
        in.forgetCovered(hard, undos.settled(soft));
        for (boolean softly = true; !in.hasRoom(); softly = !softly) {
            long floor = in.raiseFloorToMedian(softly);
            undos.dropUpTo(floor);
            in.forgetCovered(hard, undos.settled(soft));
            say(what, floor, softly, all);
        }
    }

    private static void say(String what, long floor, boolean softly, String all) {
        if (floor > 0) {
            log.warn(
                    "the table of invalidated {} is full: {} requested before {} counts as {}",
                    what,
                    all,
                    Instant.ofEpochMilli(floor >>> STAMP_BITS),
                    softly ? "stale" : "gone");
        }
    }

    /** Returns the entries that a restart needs; it may have entries of invalidations that began during the call. */
    List<InvalidationEntry> inForce() {
        lock.lock();
        try {
            List<InvalidationEntry> all = new ArrayList<>();
            add(all, InvalidationKind.ALL, 0, hard, soft);
            add(all, InvalidationKind.ALL_GROUPS, 0, groups.floor(false), groups.floor(true));
            add(all, InvalidationKind.STAMPED, 0, stamped, 0);
            LabelStamps tagged = tags.stamps();
            add(all, InvalidationKind.ALL_TAGS, 0, tagged.floor(false), tagged.floor(true));
            for (boolean softly : new boolean[] {false, true}) {
                hosts.each(
                        softly, (hash, at) -> all.add(InvalidationEntry.of(InvalidationKind.HOST, softly, at, hash)));
                urls.each(softly, (hash, at) -> all.add(InvalidationEntry.of(InvalidationKind.URL, softly, at, hash)));
                groups.each(
                        softly, (hash, at) -> all.add(InvalidationEntry.of(InvalidationKind.GROUP, softly, at, hash)));
            }
            prefixes.addTo(all);
            tags.addTo(all);
            undos.addTo(all);
            return all;
        } finally {
            lock.unlock();
        }
    }

    private static void add(
            List<InvalidationEntry> all, InvalidationKind kind, long hash, long hardStamp, long softStamp) {
        if (hardStamp > 0) {
            all.add(InvalidationEntry.of(kind, false, hardStamp, hash));
        }
        if (softStamp > 0) {
            all.add(InvalidationEntry.of(kind, true, softStamp, hash));
        }
    }

    /** Returns the number of entries in force of a kind. Callable on any thread. */
    public int entries(InvalidationKind kind) {
        return switch (kind) {
            case ALL -> (hard > 0 ? 1 : 0) + (soft > 0 ? 1 : 0);
            case ALL_GROUPS -> groups.floors();
            case ALL_TAGS -> tags.stamps().floors();
            case STAMPED -> stamped > 0 ? 1 : 0;
            case HOST -> hosts.size();
            case PREFIX -> prefixes.size();
            case GROUP -> groups.size();
            case URL -> urls.size();
            case TAG -> tags.stamps().size();
            case UNDONE -> undos.undoneCount();
            case TAG_EVERYWHERE, TAG_KEY, TAGS -> 0;
        };
    }
}
