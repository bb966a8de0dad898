package io.millrace.proxy.purge;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Soft purges that can still be undone, each with the stamps that it took the place of; and the stamps of those that were undone,
 * so that an older copy of the journal does not bring them back.
 *
 * <pre>
 *   purge 7: host a -> took the place of: host a at 3, prefix a/b at 5
 *   purge 9: host a -> took the place of: host a at 7
 *   undo of 7: purge 9 now took the place of host a at 3, prefix a/b at 5
 * </pre>
 *
 * <p>Guarded by the lock of its owner.
 */
final class UndoLog {
    /** Most entries of purges that can be undone; the oldest purges leave first. */
    static final int ENTRIES_MAX = 1 << 16;

    /** Most stamps of undone purges that are kept. */
    static final int UNDONE_MAX = 1 << 12;

    private final int entriesMax;
    private final NavigableMap<Long, Map<InvalidationEntry, List<InvalidationEntry>>> purges = new TreeMap<>();
    private final NavigableSet<Long> undone = new TreeSet<>();
    private int entries;

    UndoLog(int entriesMax) {
        this.entriesMax = entriesMax;
    }

    /** Adds what a purge entered, with the lower soft stamps that went for it. */
    void add(InvalidationEntry own, List<InvalidationEntry> displaced) {
        Map<InvalidationEntry, List<InvalidationEntry>> purge =
                purges.computeIfAbsent(own.stamp(), stamp -> new LinkedHashMap<>());
        if (!purge.containsKey(own)) {
            purge.put(own, new ArrayList<>(displaced));
            entries += 1 + displaced.size();
        }
        while (entries > entriesMax && purges.size() > 1) {
            dropUpTo(purges.firstKey());
        }
    }

    /** Purges up to a stamp cannot be undone any more. */
    void dropUpTo(long stamp) {
        Map<Long, Map<InvalidationEntry, List<InvalidationEntry>>> old = purges.headMap(stamp, true);
        for (Map<InvalidationEntry, List<InvalidationEntry>> purge : old.values()) {
            for (List<InvalidationEntry> displaced : purge.values()) {
                entries -= 1 + displaced.size();
            }
        }
        old.clear();
    }

    boolean isEmpty() {
        return purges.isEmpty();
    }

    boolean has(long stamp) {
        return purges.containsKey(stamp);
    }

    boolean isUndone(long stamp) {
        return undone.contains(stamp);
    }

    int undoneCount() {
        return undone.size();
    }

    /**
     * Takes a purge out. Where a later purge has taken its place, that one inherits what it had displaced.
     *
     * @return its entries that no later purge has displaced, with what they displaced; null when it is not known
     */
    @Nullable
    Map<InvalidationEntry, List<InvalidationEntry>> undo(long stamp) {
        undone.add(stamp);
        while (undone.size() > UNDONE_MAX) {
            undone.pollFirst();
        }
        Map<InvalidationEntry, List<InvalidationEntry>> purge = purges.remove(stamp);
        if (purge == null) {
            return null;
        }
        for (List<InvalidationEntry> displaced : purge.values()) {
            entries -= 1 + displaced.size();
        }
        Map<InvalidationEntry, List<InvalidationEntry>> current = new LinkedHashMap<>();
        purge.forEach((own, displaced) -> {
            if (!inherit(own, displaced)) {
                current.put(own, displaced);
            }
        });
        return current;
    }

    /** Gives what an entry displaced to the later purge that has displaced the entry; false when there is none. */
    private boolean inherit(InvalidationEntry own, List<InvalidationEntry> displaced) {
        boolean found = false;
        for (Map<InvalidationEntry, List<InvalidationEntry>> later :
                purges.tailMap(own.stamp(), false).values()) {
            for (List<InvalidationEntry> list : later.values()) {
                if (list.remove(own)) {
                    list.addAll(displaced);
                    entries += displaced.size() - 1;
                    found = true;
                }
            }
        }
        return found;
    }

    /** The purge of everything that came first, of those that can be undone; null for none. */
    private @Nullable List<InvalidationEntry> firstOfAll() {
        for (Map<InvalidationEntry, List<InvalidationEntry>> purge : purges.values()) {
            for (Map.Entry<InvalidationEntry, List<InvalidationEntry>> one : purge.entrySet()) {
                if (one.getKey().kind() == InvalidationKind.ALL) {
                    return one.getValue();
                }
            }
        }
        return null;
    }

    /**
     * The soft stamp of everything that no undo can lower.
     *
     * @param soft the one in force
     */
    long settled(long soft) {
        List<InvalidationEntry> displaced = firstOfAll();
        if (displaced == null) {
            return soft;
        }
        long settled = 0;
        for (InvalidationEntry entry : displaced) {
            settled = Math.max(settled, entry.stamp());
        }
        return settled;
    }

    /**
     * Raises the soft stamp of everything that no undo can lower, where a purge of everything can be undone.
     *
     * @return false when there is none
     */
    boolean raiseSettled(long stamp) {
        List<InvalidationEntry> displaced = firstOfAll();
        if (displaced == null) {
            return false;
        }
        if (settled(0) < stamp) {
            displaced.add(InvalidationEntry.of(InvalidationKind.ALL, true, stamp, 0));
            entries++;
        }
        return true;
    }

    /** Adds what the journal needs beside the stamps in force. */
    void addTo(List<InvalidationEntry> all) {
        for (Map<InvalidationEntry, List<InvalidationEntry>> purge : purges.values()) {
            purge.values().forEach(all::addAll);
        }
        for (long stamp : undone) {
            all.add(undone(stamp));
        }
    }

    /** The journal's entry of an undo. */
    static InvalidationEntry undone(long stamp) {
        return InvalidationEntry.of(InvalidationKind.UNDONE, true, stamp, stamp);
    }
}
