package io.millrace.proxy.purge;

import io.millrace.proxy.caching.Invalidations;
import io.millrace.proxy.caching.Outdated;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.tags.Labels;
import io.millrace.proxy.expression.ExpressionException;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.purge.pattern.PatternCost;
import io.millrace.proxy.purge.pattern.PurgedPattern;
import io.millrace.proxy.purge.pattern.PurgedPatterns;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The purges in force, each with a stamp, in the memory of this process. A stamp is a number that increases with
 * each purge. A response has the stamp that was the newest when its fetch began. A purge outdates a covered
 * response if its stamp is higher. There is one stamp for everything, one for each purged host, group, tag and URL,
 * and a short list of prefixes per host. Hard stamps (responses are gone) and soft stamps (responses are stale) are
 * separate. A lookup of a response with the newest stamp costs one comparison. The first lookup of any other response
 * after a change probes the table of hosts, and the tables of groups and tags for each of its labels. If no purge
 * outdates the response, its head remembers the number of this state, the <em>epoch</em>. Lookups until the next change
 * then compare two numbers.
 *
 * <p>The size is limited. A full table first removes stamps that a wider stamp covers. Then it raises a
 * <em>floor</em> to the median of its soft stamps. The floor is the stamp of everything, of all groups or of all
 * tags. So more responses than requested are purged, but recently fetched responses stay current. If the table is
 * still full, the hard floor is raised in the same way.
 *
 * <p>Thread-safe: readers use no lock, writers use one lock.
 */
public final class InvalidationTable implements Invalidations {
    /**
     * Number of low bits of a stamp that distinguish purges of one millisecond. The upper bits are epoch milliseconds.
     */
    static final int STAMP_BITS = 20;

    private static final int HOSTS_MAX = 1 << 14;
    private static final int GROUPS_MAX = 1 << 16;
    private static final int TAGS_MAX = 1 << 20;
    private static final int URLS_MAX = 1 << 16;

    /** Value of {@code undoableFrom} for which no purge can be undone. */
    private static final long NEVER = Long.MAX_VALUE;

    private static final Logger log = LoggerFactory.getLogger(InvalidationTable.class);

    private final ReentrantLock lock = new ReentrantLock();
    /** Guarded by the lock of this table. */
    private final FleetJournal fleet = new FleetJournal(lock, this::stamp);

    private final ScopeStamps scopes;
    /** Guarded by the lock of this table. */
    private final PurgeUndo undos;

    private final PatternCost patternCost = new PatternCost();
    /** The highest stamp of a retired purge by pattern (its background removal is complete). Guarded by the lock. */
    private long retiredUpTo;
    /** Stamps of purges by pattern whose background removal (sweep) must not begin yet. Guarded by the lock. */
    private final Set<Long> heldSweeps = new HashSet<>();

    private volatile PurgedPatterns patterns = PurgedPatterns.NONE;
    /** The highest stamp. Set after its entries are added, so that a reader of this stamp finds them. */
    private volatile long newest;
    /** Number of the state of the purges. Set after each change, so that a reader of this number finds the change. */
    private volatile int epoch = 1;

    /** Creates an empty table. */
    public InvalidationTable() {
        this(HOSTS_MAX, GROUPS_MAX, new TagStamps(TAGS_MAX), URLS_MAX);
    }

    InvalidationTable(int hostsMax, int groupsMax) {
        this(hostsMax, groupsMax, new TagStamps(groupsMax), groupsMax);
    }

    private InvalidationTable(int hostsMax, int groupsMax, TagStamps tags, int urlsMax) {
        UndoLog undoLog = new UndoLog(UndoLog.ENTRIES_MAX);
        scopes = new ScopeStamps(hostsMax, groupsMax, tags, urlsMax, undoLog);
        undos = new PurgeUndo(lock, scopes, undoLog);
    }

    /** Returns the current stamp, for fetches that begin now. */
    public long stamp() {
        return newest;
    }

    /** Returns the stamp at the creation of the journal, below the stamps of all purges since. Returns 0 for none. */
    public long firstStamp() {
        return scopes.journalCreationStamp();
    }

    @Override
    public @Nullable Outdated of(TargetUri url, long stamp, Labels labels) {
        return stamp >= newest ? null : scopes.findOutdated(url, stamp, labels);
    }

    @Override
    public @Nullable Outdated ofFetch(TargetUri url, long stamp, Labels labels) {
        if (stamp >= newest) {
            return null;
        }
        Outdated found = scopes.findOutdated(url, stamp, labels);
        if (found != null && !found.isSoft()) {
            return found;
        }
        Outdated byPattern = patterns.findForFetch(url, stamp);
        return byPattern == null ? found : byPattern;
    }

    @Override
    public @Nullable Outdated of(TargetUri url, StoredHead head, long bodyBytes) {
        long stamp = head.stamp();
        // Read before the purges, so that a purge which this call may miss has a later epoch.
        int compared = epoch;
        if (stamp >= newest || head.isCurrentIn(compared)) {
            return null;
        }
        Outdated found = find(url, head, bodyBytes);
        // A pattern may compare the length of the response, which is unknown while the response is received.
        if (found == null && bodyBytes >= 0) {
            head.noteCurrentIn(compared);
        }
        return found;
    }

    private @Nullable Outdated find(TargetUri url, StoredHead head, long bodyBytes) {
        Outdated found = scopes.findOutdated(url, head.stamp(), head.labels());
        PurgedPatterns compared = patterns;
        if (compared.isEmpty() || (found != null && !found.isSoft())) {
            return found;
        }
        Outdated byPattern = patternCost.find(compared, url, head, bodyBytes);
        return byPattern == null || (found != null && byPattern.isSoft()) ? found : byPattern;
    }

    /** Begins a new state of the purges, after a change. Needs the lock. */
    private void advanceEpoch() {
        int next = epoch + 1;
        epoch = next == 0 ? 1 : next;
    }

    @Override
    public long staleSinceMillis(TargetUri url, StoredHead head, long bodyBytes) {
        if (head.stamp() >= newest) {
            return -1;
        }
        long first = scopes.firstSoft(url, head);
        long firstMillis = first == Long.MAX_VALUE ? first : first >>> STAMP_BITS;
        firstMillis = Math.min(firstMillis, patterns.firstSoftMillis(url, head, bodyBytes));
        return firstMillis == Long.MAX_VALUE ? -1 : firstMillis;
    }

    @Override
    public long purgeStamp(TargetUri url, long responseStamp, Labels labels, Outdated outdated) {
        return scopes.purgeStamp(url, responseStamp, labels, outdated);
    }

    /** Returns the hard stamp of a scope; 0 for none. */
    long hardStamp(InvalidationScope scope) {
        return scopes.hardStamp(scope);
    }

    @Override
    public long purgeStamp(TargetUri url, StoredHead head, long bodyBytes, Outdated outdated) {
        return outdated == Outdated.BY_PATTERN || outdated == Outdated.STALE_BY_PATTERN
                ? patterns.newestStamp(url, head, bodyBytes, outdated.isSoft())
                : purgeStamp(url, head.stamp(), head.labels(), outdated);
    }

    /**
     * Adds a purge under the next stamp. When this method returns, the purge outdates all covered responses of
     * earlier fetches.
     *
     * @param hash hash of the host or group
     * @param prefix the prefix, else null; ownership passes to the table
     * @param stampMin lower bound of the stamp
     * @return the added entry; a purge of the whole host if a limit of prefixes is reached
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
            advanceEpoch();
            lock.unlock();
        }
    }

    /**
     * Adds a purge of several scopes under one stamp.
     *
     * @param undoableFrom the lowest stamp of soft purges that can be undone
     * @return the added entries in the order of the scopes; a purge of the whole host if a limit of prefixes is reached
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
            // Set after all entries were added, so that a fetch with this stamp sees each of them.
            newest = next;
            return entered;
        } finally {
            advanceEpoch();
            lock.unlock();
        }
    }

    private InvalidationEntry entry(InvalidationScope scope, boolean softly, long stamp) {
        byte[] prefix = scope.prefix();
        if (scope.tag() != null) {
            return scopes.tags().entry(scope, softly, stamp);
        }
        return prefix == null
                ? InvalidationEntry.of(scope.kind(), softly, stamp, scope.hash())
                : InvalidationEntry.ofPrefix(softly, stamp, scope.hash(), prefix);
    }

    /**
     * Adds a purge by pattern under the next stamp.
     *
     * @param undoableFrom the lowest stamp of soft purges that can be undone
     * @param delaysSweep whether {@link #sweepable} omits the purge until {@link #allowSweep} is called
     * @return the added entry; null, without a change, if too many purges by pattern are live
     */
    @Nullable
    InvalidationEntry invalidate(PurgedPattern unstamped, long stampMin, long undoableFrom, boolean delaysSweep) {
        lock.lock();
        try {
            if (patterns.isFull()) {
                return null;
            }
            long stamp = Math.max(newest + 1, stampMin);
            PurgedPattern pattern = unstamped.at(stamp, stamp >>> STAMP_BITS);
            if (delaysSweep) {
                heldSweeps.add(stamp);
            }
            undos.dropBelow(undoableFrom);
            InvalidationEntry entered = InvalidationEntry.ofPattern(pattern);
            if (pattern.isSoft() && stamp >= undoableFrom) {
                undos.addPattern(entered);
            }
            patterns = patterns.with(pattern);
            newest = stamp;
            return entered;
        } finally {
            advanceEpoch();
            lock.unlock();
        }
    }

    /**
     * Returns the live purges by pattern that may be swept now. A sweep removes the covered responses from the
     * storage, so the returned soft purges cannot be undone any more.
     *
     * @param undoableFrom the lowest stamp of soft purges that can be undone
     */
    List<PurgedPattern> sweepable(long undoableFrom) {
        lock.lock();
        try {
            undos.dropBelow(undoableFrom);
            List<PurgedPattern> all = new ArrayList<>(patterns.live());
            all.removeIf(pattern -> heldSweeps.contains(pattern.stamp()) || undos.isUndoable(pattern.stamp()));
            return all;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Allows sweeps of a purge by pattern that was added with {@code delaysSweep}. Returns false if they were allowed
     * already.
     */
    boolean allowSweep(long stamp) {
        lock.lock();
        try {
            return heldSweeps.remove(stamp);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Retires a purge by pattern whose sweep is complete: it covers no stored response any more.
     *
     * @return the journal entry; null if the purge is not live
     */
    @Nullable
    InvalidationEntry retire(PurgedPattern pattern) {
        lock.lock();
        try {
            long stamp = pattern.stamp();
            if (!patterns.isLive(stamp)) {
                return null;
            }
            patterns = patterns.retire(stamp);
            retiredUpTo = Math.max(retiredUpTo, stamp);
            return InvalidationEntry.of(InvalidationKind.PATTERN_RETIRED, pattern.isSoft(), stamp, stamp);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Cancels a live purge by pattern before its sweep is complete.
     *
     * @return false, without a change, if the purge is not live
     */
    boolean cancel(long stamp) {
        lock.lock();
        try {
            if (!patterns.isLive(stamp)) {
                return false;
            }
            heldSweeps.remove(stamp);
            revert(stamp);
            return true;
        } finally {
            advanceEpoch();
            lock.unlock();
        }
    }

    /** The purges by pattern. */
    PurgedPatterns patterns() {
        return patterns;
    }

    /** The measured cost of comparing responses with purges by pattern. */
    PatternCost patternCost() {
        return patternCost;
    }

    /** The record of purges that can be undone or were undone. */
    PurgeUndo undos() {
        return undos;
    }

    /**
     * Undoes a soft purge. Responses that only this purge made stale are fresh again, as before.
     *
     * @return false, without a change, if the purge cannot be undone
     */
    boolean undo(long stamp) {
        lock.lock();
        try {
            if (!undos.isUndoable(stamp)) {
                return false;
            }
            revert(stamp);
            return true;
        } finally {
            advanceEpoch();
            lock.unlock();
        }
    }

    /** Removes a purge, and restores the stamps that it replaced. */
    private void revert(long stamp) {
        patterns = patterns.without(stamp);
        undos.revert(stamp);
    }

    /** Returns the journal entry with the secret key of tag hashes. Returns null if the journal already contains it. */
    @Nullable
    InvalidationEntry announceKey(long stampMin) {
        lock.lock();
        try {
            return scopes.tags().announceKey(Math.max(newest, stampMin));
        } finally {
            lock.unlock();
        }
    }

    /** Adds the entries of the journal, in any order. */
    void restore(List<InvalidationEntry> entries) {
        restore(entries, NEVER);
    }

    /**
     * Adds the entries of the journal, in any order. Entries may be known already, or older than known entries: during
     * a roll (replacement of the worker process), the preceding worker passes its purges one by one.
     *
     * @param undoableFrom the lowest stamp of soft purges that can be undone
     */
    void restore(List<InvalidationEntry> entries, long undoableFrom) {
        lock.lock();
        try {
            Set<Long> undone = new HashSet<>();
            List<InvalidationEntry> undoables = new ArrayList<>();
            // Order: keys of tags, undos, entries that no undo can affect, then purges that can be undone.
            for (InvalidationEntry entry : entries) {
                if (entry.kind() == InvalidationKind.TAG_KEY) {
                    enter(entry, NEVER);
                } else if (entry.kind() == InvalidationKind.UNDONE) {
                    undone.add(entry.stamp());
                    revert(entry.stamp());
                }
            }
            for (InvalidationEntry entry : withoutRetired(entries)) {
                boolean mustUnpack = entry.stamp() >= undoableFrom || undos.undoneCount() > 0;
                if (entry.kind() == InvalidationKind.TAGS && mustUnpack) {
                    for (InvalidationEntry single : TagStamps.unpack(entry)) {
                        restore(single, undoableFrom, undone, undoables);
                    }
                } else if (entry.kind() != InvalidationKind.TAG_KEY && entry.kind() != InvalidationKind.UNDONE) {
                    restore(entry, undoableFrom, undone, undoables);
                }
            }
            undoables.sort(Comparator.comparingLong(InvalidationEntry::stamp));
            for (InvalidationEntry entry : undoables) {
                enter(entry, undoableFrom);
            }
            // New stamps must be higher than the stamp of an undone purge, even without another entry in the journal.
            for (long stamp : undone) {
                newest = Math.max(newest, stamp);
            }
        } finally {
            advanceEpoch();
            lock.unlock();
        }
    }

    private void restore(
            InvalidationEntry entry, long undoableFrom, Set<Long> undone, List<InvalidationEntry> undoables) {
        boolean wasUndone = undone.contains(entry.stamp()) || undos.isUndone(entry.stamp());
        if (wasUndone && (entry.isSoft() || entry.kind() == InvalidationKind.PATTERN)) {
            newest = Math.max(newest, entry.stamp());
        } else if (entry.isSoft() && entry.stamp() >= undoableFrom) {
            undoables.add(entry);
        } else {
            enter(entry, NEVER);
        }
    }

    /** Returns the entries except retired purges by pattern. */
    private static List<InvalidationEntry> withoutRetired(List<InvalidationEntry> entries) {
        Set<Long> retired = new HashSet<>();
        for (InvalidationEntry entry : entries) {
            if (entry.kind() == InvalidationKind.PATTERN_RETIRED) {
                retired.add(entry.hash());
            }
        }
        List<InvalidationEntry> unretired = new ArrayList<>(entries);
        unretired.removeIf(entry -> entry.kind() == InvalidationKind.PATTERN && retired.contains(entry.stamp()));
        return unretired;
    }

    /** Adds an entry of the journal. Keys of tags must be added before other entries. */
    void restore(InvalidationEntry entry) {
        lock.lock();
        try {
            enter(entry, NEVER);
        } finally {
            advanceEpoch();
            lock.unlock();
        }
    }

    /** Adds an entry. Raises the newest stamp to the stamp of the entry. */
    private InvalidationEntry enter(InvalidationEntry requestedEntry, long undoableFrom) {
        InvalidationEntry entry = put(requestedEntry, undoableFrom);
        newest = Math.max(newest, entry.stamp());
        return entry;
    }

    /** Adds an entry. If it can be undone, records the stamps that it replaces. */
    private InvalidationEntry put(InvalidationEntry requestedEntry, long undoableFrom) {
        if (undoableFrom != NEVER) {
            undos.dropBelow(undoableFrom);
        }
        if (requestedEntry.isSoft() && requestedEntry.stamp() >= undoableFrom) {
            PurgeUndo.Before before = undos.before(requestedEntry);
            InvalidationEntry entry = put(requestedEntry);
            undos.add(requestedEntry, before, entry);
            return entry;
        }
        InvalidationEntry entry = put(requestedEntry);
        if (entry.kind() == InvalidationKind.ALL) {
            forgetCovered();
        }
        undos.addLate(entry);
        return entry;
    }

    /** Adds an entry without recording it for an undo. */
    private InvalidationEntry put(InvalidationEntry entry) {
        return switch (entry.kind()) {
            case PATTERN -> putPattern(entry);
            case PATTERN_RETIRED -> {
                // The purge stays live until this process has completed its own sweep. This process may still be
                // receiving responses that the purge covers.
                retiredUpTo = Math.max(retiredUpTo, entry.stamp());
                yield entry;
            }
            case FLEET_POSITION, FLEET_PURGE -> {
                fleet.restore(entry);
                yield entry;
            }
            default -> scopes.put(entry);
        };
    }

    /** Removes entries that purges of everything cover. */
    private void forgetCovered() {
        scopes.forgetCovered();
        patterns = patterns.above(scopes.hard(), scopes.softStampAfterUndo());
    }

    /** Adds a purge by pattern. Purges everything if this version cannot parse the expression. */
    private InvalidationEntry putPattern(InvalidationEntry entry) {
        String text = new String(entry.prefix(), StandardCharsets.UTF_8);
        long stamp = entry.stamp();
        try {
            patterns = patterns.with(PurgedPattern.parse(text, entry.isSoft()).at(stamp, stamp >>> STAMP_BITS));
            return entry;
        } catch (ExpressionException e) {
            log.error(
                    "this version cannot parse the expression of a purge in the journal, so all stored responses count as purged: {}",
                    text);
            return put(InvalidationEntry.of(InvalidationKind.ALL, entry.isSoft(), stamp, 0));
        }
    }

    /** The progress of this node in the fleet's stream of purges. */
    FleetJournal fleet() {
        return fleet;
    }

    /** Returns the entries that the journal must keep for a restart. */
    List<InvalidationEntry> inForce() {
        lock.lock();
        try {
            List<InvalidationEntry> all = new ArrayList<>();
            scopes.addTo(all);
            for (PurgedPattern pattern : patterns.live()) {
                all.add(InvalidationEntry.ofPattern(pattern));
            }
            // Keeps the highest stamp in the journal, so that new stamps are higher even if the clock was set back.
            ScopeStamps.add(all, InvalidationKind.PATTERN_RETIRED, retiredUpTo, retiredUpTo, 0);
            undos.addTo(all);
            fleet.addTo(all);
            return all;
        } finally {
            lock.unlock();
        }
    }

    /** Returns the number of entries in force of one kind. Callable on any thread. */
    public int entries(InvalidationKind kind) {
        return switch (kind) {
            case UNDONE -> undos.undoneCount();
            case PATTERN -> patterns.live().size();
            case ALL,
                    ALL_GROUPS,
                    ALL_TAGS,
                    JOURNAL_LOST,
                    HOST,
                    PREFIX,
                    GROUP,
                    URL,
                    TAG,
                    TAG_EVERYWHERE,
                    TAG_KEY,
                    TAGS,
                    PATTERN_RETIRED,
                    FLEET_POSITION,
                    FLEET_PURGE -> scopes.entries(kind);
        };
    }
}
