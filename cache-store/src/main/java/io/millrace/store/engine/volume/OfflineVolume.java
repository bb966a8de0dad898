package io.millrace.store.engine.volume;

import io.millrace.store.StoreKey;
import io.millrace.store.disk.segment.Superblock;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The notes about a volume that was taken offline by command. They contain its superblock at that time and the keys
 * changed since. With them the volume can return and keep its content, except for the changed objects.
 *
 * <p>Thread-safe: {@link #missed} may be called from any thread; the other methods require the store's life cycle lock.
 */
public final class OfflineVolume {
    /** Limit of recorded keys; above it the volume starts empty. */
    public static final int KEYS_MAX = 1 << 16;
    /** Limit of keys that are processed when the volume returns. Threads that change a key wait meanwhile. */
    private static final int LAST_KEYS_MAX = 1 << 10;

    private final String reason;
    private final ReentrantLock lock = new ReentrantLock();
    private Set<StoreKey> changed = new HashSet<>();
    private boolean tooMany;
    private boolean over;
    private @Nullable Superblock left;

    /** Creates the record at the time the volume goes offline. */
    public OfflineVolume(String reason) {
        this.reason = reason;
    }

    /** Returns the reason of the command. */
    public String reason() {
        return reason;
    }

    /** Returns the superblock at the time the volume went offline; null if its content cannot be trusted. */
    @Nullable
    Superblock left() {
        return left;
    }

    /** Records the superblock of the cleanly closed volume. */
    void left(Superblock superblock) {
        left = superblock;
    }

    /** Discards the recorded superblock, because the content cannot be trusted any more: the volume starts empty. */
    void forgetLeft() {
        left = null;
    }

    /**
     * Records a change of the key; false if the volume has returned, so that the caller must apply the change to it.
     */
    boolean missed(StoreKey key) {
        lock.lock();
        try {
            if (over) {
                return false;
            }
            if (changed.size() >= KEYS_MAX) {
                tooMany = true;
            }
            if (!tooMany) {
                changed.add(key);
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Returns true if too many keys changed to record them all. */
    boolean isTooMany() {
        lock.lock();
        try {
            return tooMany;
        } finally {
            lock.unlock();
        }
    }

    /** Returns the keys recorded since the last call. */
    List<StoreKey> take() {
        lock.lock();
        try {
            List<StoreKey> keys = new ArrayList<>(changed);
            changed = new HashSet<>();
            return keys;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Makes the volume a member and applies the remaining keys. No change is recorded meanwhile, because the lock is
     * held.
     */
    interface Return {
        void with(List<StoreKey> keys);
    }

    /**
     * Ends the recording and makes the volume a member. Changes wait meanwhile. Therefore this does nothing if more
     * than {@value #LAST_KEYS_MAX} recorded keys remain.
     *
     * @param empty whether the volume returns empty, so that it missed no relevant change
     * @return true if the recording has ended
     */
    boolean end(boolean empty, Return returning) {
        lock.lock();
        try {
            if (!empty && (tooMany || changed.size() > LAST_KEYS_MAX)) {
                return false;
            }
            returning.with(empty ? List.of() : List.copyOf(changed));
            over = true;
            return true;
        } finally {
            lock.unlock();
        }
    }
}
