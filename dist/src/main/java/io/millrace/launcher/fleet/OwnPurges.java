package io.millrace.launcher.fleet;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Places in the stream of the purges that this node has published lately. Thread-safe. */
final class OwnPurges {
    /** Limit of remembered purges. */
    static final int MAX = 10_000;

    private final ReentrantLock lock = new ReentrantLock();
    /** Guarded by the lock. */
    private final Map<String, Place> places = new LinkedHashMap<>();

    /** Place of a message: the time of creation of its stream, and its number. */
    record Place(String created, long sequence) {}

    void add(String localId, Place place) {
        lock.lock();
        try {
            places.put(localId, place);
            if (places.size() > MAX) {
                var oldest = places.entrySet().iterator();
                oldest.next();
                oldest.remove();
            }
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
