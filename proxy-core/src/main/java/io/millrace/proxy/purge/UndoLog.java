package io.millrace.proxy.purge;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The soft purges that can be undone, with the stamps that they replaced. A stamp is a number that increases with
 * each purge. Also keeps the stamps of undone purges, so that an older copy of the journal does not restore them.
 *
 * <pre>
 *   purge 7: host a -> replaced stamp 3 of host a, and stamp 5 of prefix a/b
 *   purge 9: host a -> replaced stamp 7 of host a
 *   undo of purge 7: purge 9 now counts as having replaced stamp 3 of host a, and stamp 5 of prefix a/b
 * </pre>
 *
 * <p>Guarded by the lock of its owner.
 */
final class UndoLog {
    /** Limit of entries. If there are more, the oldest purges are dropped and cannot be undone. */
    static final int ENTRIES_MAX = 1 << 16;

    /** Limit of kept stamps of undone purges. */
    static final int UNDONE_MAX = 1 << 12;

    private final int entriesMax;
    /** Per stamp of a purge: the entries of the purge, each with the entries that it replaced. */
    private final NavigableMap<Long, Map<InvalidationEntry, List<InvalidationEntry>>> purges = new TreeMap<>();
    /** Stamps of undone purges. */
    private final NavigableSet<Long> undone = new TreeSet<>();
    /** Number of entries in {@link #purges}, including the replaced entries. */
    private int entries;

    UndoLog(int entriesMax) {
        this.entriesMax = entriesMax;
    }

    /**
     * Converts an entry for this log, which uses {@link InvalidationKind#TAG_EVERYWHERE} for all tags. Packed journal
     * entries do not distinguish the two kinds of tag entries either.
     */
    static InvalidationEntry entry(InvalidationEntry entry) {
        return entry.kind() == InvalidationKind.TAG
                ? InvalidationEntry.ofTag(
                        InvalidationKind.TAG_EVERYWHERE, true, entry.stamp(), entry.hash(), entry.keyId())
                : entry;
    }

    /** Adds an entry of a purge, with the lower soft stamps that the entry replaced. */
    void add(InvalidationEntry entry, List<InvalidationEntry> displaced) {
        Map<InvalidationEntry, List<InvalidationEntry>> purge =
                purges.computeIfAbsent(entry.stamp(), stamp -> new LinkedHashMap<>());
        if (!purge.containsKey(entry)) {
            purge.put(entry, new ArrayList<>(displaced));
            entries += 1 + displaced.size();
        }
        while (entries > entriesMax && purges.size() > 1) {
            dropUpTo(purges.firstKey());
        }
    }

    /**
     * Inserts an entry that arrived after a later purge of the same scope. An undo of the later purge then
     * restores the entry. No effect if the later purge cannot be undone.
     *
     * @return the entries with lower stamps that the later purge had replaced; {@code late} replaces them now
     */
    List<InvalidationEntry> insertLate(InvalidationEntry late) {
        for (Map<InvalidationEntry, List<InvalidationEntry>> later :
                purges.tailMap(late.stamp(), false).values()) {
            for (Map.Entry<InvalidationEntry, List<InvalidationEntry>> one : later.entrySet()) {
                if (isOfSameScope(one.getKey(), late)) {
                    return insertLate(late, one.getValue());
                }
            }
        }
        return List.of();
    }

    private List<InvalidationEntry> insertLate(InvalidationEntry late, List<InvalidationEntry> displaced) {
        if (displaced.contains(late)) {
            return List.of();
        }
        List<InvalidationEntry> lower = displaced.stream()
                .filter(entry -> isOfSameScope(entry, late) && entry.stamp() < late.stamp())
                .toList();
        displaced.removeAll(lower);
        displaced.add(late);
        entries += 1 - lower.size();
        return lower;
    }

    private static boolean isOfSameScope(InvalidationEntry one, InvalidationEntry other) {
        return one.kind() == other.kind() && one.hash() == other.hash() && one.keyId() == other.keyId();
    }

    /** Drops the purges up to a stamp, which cannot be undone any more. */
    void dropUpTo(long stamp) {
        Map<Long, Map<InvalidationEntry, List<InvalidationEntry>>> old = purges.headMap(stamp, true);
        for (Map<InvalidationEntry, List<InvalidationEntry>> purge : old.values()) {
            for (List<InvalidationEntry> displaced : purge.values()) {
                entries -= 1 + displaced.size();
            }
        }
        old.clear();
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
     * Removes a purge, because it is undone. If a later purge has replaced an entry of this purge, the later
     * purge inherits the stamps that this entry had replaced.
     *
     * @return the entries of the purge that no later purge has replaced, each with the stamps to restore; null
     * for an unknown purge
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
        Set<InvalidationEntry> inherited = new HashSet<>();
        for (Map<InvalidationEntry, List<InvalidationEntry>> later :
                purges.tailMap(stamp, false).values()) {
            for (List<InvalidationEntry> list : later.values()) {
                inherit(list, purge, inherited);
            }
        }
        inherited.forEach(purge::remove);
        return purge;
    }

    /**
     * Lets a later purge inherit from an undone purge. The list of the later purge contains stamps that the undone
     * purge had set. The stamps that the undone purge had replaced take their place.
     *
     * @param inherited receives the replaced entries
     */
    private void inherit(
            List<InvalidationEntry> list,
            Map<InvalidationEntry, List<InvalidationEntry>> undonePurge,
            Set<InvalidationEntry> inherited) {
        for (InvalidationEntry entry : List.copyOf(list)) {
            List<InvalidationEntry> displaced = undonePurge.get(entry);
            if (displaced != null) {
                list.remove(entry);
                list.addAll(displaced);
                entries += displaced.size() - 1;
                inherited.add(entry);
            }
        }
    }

    /**
     * Returns the stamps that the oldest undoable purge of everything has replaced. Returns null if there is no such
     * purge.
     */
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
     * Returns the soft stamp of the scope "everything" as it is without the purges that can still be undone.
     *
     * @param soft the current soft stamp of everything
     */
    long stampAfterUndo(long soft) {
        List<InvalidationEntry> displaced = firstOfAll();
        if (displaced == null) {
            return soft;
        }
        long stampAfterUndo = 0;
        for (InvalidationEntry entry : displaced) {
            stampAfterUndo = Math.max(stampAfterUndo, entry.stamp());
        }
        return stampAfterUndo;
    }

    /**
     * Raises the stamp that remains after an undo of the purges of everything.
     *
     * @return false, without a change, if no purge of everything can be undone
     */
    boolean raiseStampAfterUndo(long stamp) {
        List<InvalidationEntry> displaced = firstOfAll();
        if (displaced == null) {
            return false;
        }
        if (stampAfterUndo(0) < stamp) {
            displaced.add(InvalidationEntry.of(InvalidationKind.ALL, true, stamp, 0));
            entries++;
        }
        return true;
    }

    /** Adds the entries that the journal needs in addition to the stamps in force. */
    void addTo(List<InvalidationEntry> all) {
        for (Map<InvalidationEntry, List<InvalidationEntry>> purge : purges.values()) {
            purge.values().forEach(all::addAll);
        }
        for (long stamp : undone) {
            all.add(undone(stamp));
        }
    }

    /** Creates the journal entry of an undo. */
    static InvalidationEntry undone(long stamp) {
        return InvalidationEntry.of(InvalidationKind.UNDONE, true, stamp, stamp);
    }
}
