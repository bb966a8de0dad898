package io.millrace.store.memory;

import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Admits every entry, and evicts the least recently requested one: LRU. A tier has exactly one policy of this kind,
 * because an entry has only one {@link RamEntry#place}. The policy is either active or retired.
 *
 * <p>Thread-safe: a lock is held for a few pointer updates, and never while an entry is unlinked.
 */
final class RecencyPolicy implements EvictionPolicy {
    /** The place of an entry in the list. All fields are guarded by the policy's lock. */
    static final class Place {
        private final RamEntry entry;
        private int weight;
        private @Nullable Place older;
        private @Nullable Place newer;

        private Place(RamEntry entry) {
            this.entry = entry;
        }
    }

    private final Consumer<RamEntry> evicted;
    private final Executor housekeeping;
    private final AtomicBoolean evictionQueued = new AtomicBoolean();
    private final Runnable eviction = this::evictQueued;

    private final ReentrantLock lock = new ReentrantLock();
    private boolean active;
    private long bytes;
    private long bytesMax;
    private @Nullable Place oldest;
    private @Nullable Place newest;

    /**
     * Creates a retired policy.
     *
     * @param evicted receives evicted entries, without the lock
     * @param housekeeping runs evictions that follow a {@link #put}
     */
    RecencyPolicy(Consumer<RamEntry> evicted, Executor housekeeping) {
        this.evicted = evicted;
        this.housekeeping = housekeeping;
    }

    /** Starts the policy, without entries, with a limit in bytes. */
    void activate(long limit) {
        lock.lock();
        try {
            active = true;
            bytesMax = limit;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void put(RamEntry entry) {
        boolean full;
        lock.lock();
        try {
            if (!active) {
                return;
            }
            Place place = entry.place;
            if (place == null) {
                place = new Place(entry);
                entry.place = place;
                append(place);
            }
            weigh(place);
            full = bytes > bytesMax;
        } finally {
            lock.unlock();
        }
        if (full && evictionQueued.compareAndSet(false, true)) {
            housekeeping.execute(eviction);
        }
    }

    @Override
    public void recordRequest(RamEntry entry) {
        lock.lock();
        try {
            Place place = entry.place;
            if (place != null && place != newest) {
                detach(place);
                append(place);
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void reweigh(RamEntry entry) {
        lock.lock();
        try {
            if (entry.place != null) {
                weigh(entry.place);
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void remove(RamEntry entry) {
        lock.lock();
        try {
            if (entry.place != null) {
                removePlace(entry.place);
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void limit(long limit) {
        lock.lock();
        try {
            bytesMax = limit;
        } finally {
            lock.unlock();
        }
        evict();
    }

    private void evictQueued() {
        // The flag is reset first, so that a later entry schedules another run.
        evictionQueued.set(false);
        evict();
    }

    @Override
    public void evict() {
        for (RamEntry entry = takeOldest(); entry != null; entry = takeOldest()) {
            evicted.accept(entry);
        }
    }

    private @Nullable RamEntry takeOldest() {
        lock.lock();
        try {
            Place place = oldest;
            if (place == null || bytes <= bytesMax) {
                return null;
            }
            removePlace(place);
            return place.entry;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void retire() {
        lock.lock();
        try {
            active = false;
            for (Place place = oldest; place != null; place = oldest) {
                removePlace(place);
            }
        } finally {
            lock.unlock();
        }
    }

    private void weigh(Place place) {
        int weight = place.entry.weight();
        bytes += weight - place.weight;
        place.weight = weight;
    }

    private void removePlace(Place place) {
        detach(place);
        bytes -= place.weight;
        place.entry.place = null;
    }

    private void append(Place place) {
        Place last = newest;
        place.older = last;
        if (last == null) {
            oldest = place;
        } else {
            last.newer = place;
        }
        newest = place;
    }

    private void detach(Place place) {
        Place older = place.older;
        Place newer = place.newer;
        if (older == null) {
            oldest = newer;
        } else {
            older.newer = newer;
        }
        if (newer == null) {
            newest = older;
        } else {
            newer.older = older;
        }
        place.older = null;
        place.newer = null;
    }
}
