package io.millrace.proxy.purge;

import io.millrace.proxy.purge.fleet.FleetPosition;
import io.millrace.proxy.purge.fleet.FleetProgress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * This node's progress in the fleet's stream of purges, as entries of the purge journal on disk. A fleet is a group of
 * nodes (proxies) that share purges.
 *
 * <p>Thread-safe: guarded by the lock of the owner, {@link InvalidationTable}. The caller of {@link #restore} and
 * {@link #addTo} must hold the lock; the other methods acquire it.
 */
final class FleetJournal {
    private final ReentrantLock lock;
    private final LongSupplier newestStamp;
    /** Guarded by the lock. */
    private final FleetProgress progress = new FleetProgress();

    /**
     * Creates the progress of a node that has applied no message.
     *
     * @param lock the lock of the owner
     * @param newestStamp returns the highest stamp of all purges; called with the lock
     */
    FleetJournal(ReentrantLock lock, LongSupplier newestStamp) {
        this.lock = lock;
        this.newestStamp = newestStamp;
    }

    /** Returns the position in the stream of the fleet's purges; null for none. */
    @Nullable
    FleetPosition position() {
        lock.lock();
        try {
            return progress.position();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Sets the position in the stream of the fleet's purges, and remembers stamps of these purges.
     *
     * @param purges stamps by shared identifier
     * @return the journal entries, the position last
     */
    List<InvalidationEntry> applied(FleetPosition position, Map<String, Long> purges) {
        lock.lock();
        try {
            List<InvalidationEntry> entries = new ArrayList<>();
            purges.forEach((id, stamp) -> {
                progress.add(id, stamp);
                entries.add(InvalidationEntry.ofFleetPurge(id, stamp));
            });
            progress.advance(position);
            entries.add(entry(position));
            return entries;
        } finally {
            lock.unlock();
        }
    }

    private InvalidationEntry entry(FleetPosition position) {
        return InvalidationEntry.ofFleetPosition(newestStamp.getAsLong(), progress.version(), position);
    }

    /** Returns the local stamp of another node's purge by its shared identifier; 0 if it is not known. */
    long stamp(String sharedId) {
        lock.lock();
        try {
            return progress.stamp(sharedId);
        } finally {
            lock.unlock();
        }
    }

    /** Returns the shared identifier of another node's purge by its local stamp; null if it is not known. */
    @Nullable
    String sharedId(long stamp) {
        lock.lock();
        try {
            return progress.sharedId(stamp);
        } finally {
            lock.unlock();
        }
    }

    /** Adds a position or a purge from the journal. No effect for an entry of another kind. Needs the lock. */
    void restore(InvalidationEntry entry) {
        if (entry.kind() == InvalidationKind.FLEET_PURGE) {
            progress.add(new String(entry.prefix(), StandardCharsets.UTF_8), entry.stamp());
        } else if (entry.kind() == InvalidationKind.FLEET_POSITION) {
            FleetPosition found = FleetPosition.read(entry.prefix());
            if (found != null) {
                progress.restore(entry.hash(), found);
            }
        }
    }

    /** Adds the entries that the journal must keep for a restart. Needs the lock. */
    void addTo(List<InvalidationEntry> all) {
        progress.purges().forEach((id, stamp) -> all.add(InvalidationEntry.ofFleetPurge(id, stamp)));
        FleetPosition position = progress.position();
        if (position != null) {
            all.add(entry(position));
        }
    }
}
