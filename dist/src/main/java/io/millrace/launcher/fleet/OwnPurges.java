package io.millrace.launcher.fleet;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The positions, in the stream of the fleet, of the purges that this node has published recently. Thread-safe. */
final class OwnPurges {
    /** Limit of remembered purges. */
    static final int MAX = 10_000;

    private final ReentrantLock lock = new ReentrantLock();
    /** Guarded by the lock. */
    private final Map<String, Place> places = new LinkedHashMap<>();

    /** The position of a message: the time of creation of its stream, and its number. */
    static final class Place {
        private final String created;
        private final long sequence;
        private final AtomicLong appliedEverywhere = new AtomicLong(-1);

        Place(String created, long sequence) {
            this.created = created;
            this.sequence = sequence;
        }

        String created() {
            return created;
        }

        long sequence() {
            return sequence;
        }

        /**
         * Returns the time at which this method was called first, in epoch milliseconds. Call it whenever all live
         * nodes are found to have applied this message.
         */
        long appliedEverywhere(long nowMillis) {
            appliedEverywhere.compareAndSet(-1, nowMillis);
            return appliedEverywhere.get();
        }

        private boolean isAt(String otherCreated, long otherSequence) {
            return created.equals(otherCreated) && sequence == otherSequence;
        }
    }

    /** Remembers the position of a purge. Returns true if no position of this purge was known before. */
    boolean add(String localId, String created, long sequence) {
        lock.lock();
        try {
            Place before = places.get(localId);
            if (before != null && before.isAt(created, sequence)) {
                return false;
            }
            places.put(localId, new Place(created, sequence));
            if (places.size() > MAX) {
                var oldest = places.entrySet().iterator();
                oldest.next();
                oldest.remove();
            }
            return before == null;
        } finally {
            lock.unlock();
        }
    }

    @Nullable
    Place find(String localId) {
        lock.lock();
        try {
            return places.get(localId);
        } finally {
            lock.unlock();
        }
    }
}
