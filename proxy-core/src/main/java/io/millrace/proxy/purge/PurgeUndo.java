package io.millrace.proxy.purge;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Records which soft stamps each purge replaces, and restores these stamps when the purge is undone. The stamp of a
 * purge is a number that increases with each purge; a soft stamp is that of a soft purge.
 *
 * <p>Thread-safe: guarded by the lock of the owner, {@link InvalidationTable}. {@link #isUndoable} and
 * {@link #isUndone} acquire the lock, and {@link #undoneCount} needs no lock. The caller of every other method must hold
 * it.
 */
final class PurgeUndo {
    private final ReentrantLock lock;
    private final ScopeStamps scopes;
    /** Guarded by the lock. */
    private final UndoLog log;

    /**
     * Creates the undo of purges.
     *
     * @param lock the lock of the owner
     * @param log an empty log; shared with {@code scopes}
     */
    PurgeUndo(ReentrantLock lock, ScopeStamps scopes, UndoLog log) {
        this.lock = lock;
        this.scopes = scopes;
        this.log = log;
    }

    /** Returns true if the soft purge with the stamp can be undone. */
    boolean isUndoable(long stamp) {
        lock.lock();
        try {
            return log.has(stamp);
        } finally {
            lock.unlock();
        }
    }

    /** Returns true if the soft purge with the stamp was undone. Only the latest undos are known. */
    boolean isUndone(long stamp) {
        lock.lock();
        try {
            return log.isUndone(stamp);
        } finally {
            lock.unlock();
        }
    }

    /** Returns the number of known undos. Callable without the lock, for a report. */
    int undoneCount() {
        return log.undoneCount();
    }

    /** Drops the purges below a stamp, which cannot be undone any more. */
    void dropBelow(long undoableFrom) {
        log.dropUpTo(undoableFrom - 1);
    }

    /**
     * The soft stamps in force before a purge.
     *
     * @param prefixes the prefixes of the same host
     * @param stamp the stamp of the same scope; 0 for none
     * @param hostStamp the stamp of the host; 0 for none
     */
    record Before(List<InvalidationEntry> prefixes, long stamp, long hostStamp) {}

    /** Returns the stamps that a purge may replace. Call before the purge is added to the tables. */
    Before before(InvalidationEntry wanted) {
        return new Before(
                List.of(scopes.prefixes(wanted.hash())), scopes.softStamp(wanted), scopes.hostSoft(wanted.hash()));
    }

    /**
     * Records a purge that can be undone, with the stamps that it replaced.
     *
     * @param wanted the requested purge
     * @param before the stamps before the purge was added to the tables
     * @param entry the added purge, which may be wider than requested
     */
    void add(InvalidationEntry wanted, Before before, InvalidationEntry entry) {
        if (wanted.kind() == InvalidationKind.PATTERN && entry.kind() == InvalidationKind.ALL) {
            return;
        }
        List<InvalidationEntry> displaced = new ArrayList<>();
        if (before.stamp() > 0 && before.stamp() < wanted.stamp()) {
            displaced.add(UndoLog.entry(
                    InvalidationEntry.ofTag(wanted.kind(), true, before.stamp(), wanted.hash(), wanted.keyId())));
        }
        boolean widened = entry.kind() != wanted.kind();
        if (widened && before.hostStamp() > 0) {
            displaced.add(InvalidationEntry.of(InvalidationKind.HOST, true, before.hostStamp(), wanted.hash()));
        }
        if (entry.kind() == InvalidationKind.HOST || entry.kind() == InvalidationKind.PREFIX) {
            addReplacedPrefixes(before.prefixes(), entry, displaced);
        }
        if (isLate(entry)) {
            displaced.addAll(log.insertLate(UndoLog.entry(entry)));
        }
        log.add(UndoLog.entry(entry), displaced);
    }

    /** Adds the soft prefixes that {@code entry} has replaced to {@code displaced}. */
    private void addReplacedPrefixes(
            List<InvalidationEntry> before, InvalidationEntry entry, List<InvalidationEntry> displaced) {
        List<InvalidationEntry> remaining = List.of(scopes.prefixes(entry.hash()));
        for (InvalidationEntry prefix : before) {
            if (prefix.isSoft() && prefix.stamp() < entry.stamp() && !remaining.contains(prefix)) {
                displaced.add(prefix);
            }
        }
    }

    /** Records a purge by pattern that can be undone. It replaces no stamp. */
    void addPattern(InvalidationEntry entry) {
        log.add(entry, List.of());
    }

    /** Records a purge that cannot be undone, if the undo of a later purge must restore it. */
    void addLate(InvalidationEntry entry) {
        if (isLate(entry)) {
            log.insertLate(UndoLog.entry(entry));
        }
    }

    /**
     * Returns true if a later soft purge of the same scope is in force. An undo of that purge must restore this entry.
     */
    private boolean isLate(InvalidationEntry entry) {
        return entry.isSoft() && scopes.softStamp(entry) > entry.stamp();
    }

    /** Removes the stamps of a purge from the tables of scopes, and restores the stamps that it replaced. */
    void revert(long stamp) {
        Map<InvalidationEntry, List<InvalidationEntry>> purge = log.undo(stamp);
        if (purge == null) {
            return;
        }
        purge.forEach(scopes::revert);
        scopes.removeZeros();
    }

    /** Adds the entries that the journal needs in addition to the stamps in force. */
    void addTo(List<InvalidationEntry> all) {
        log.addTo(all);
    }
}
