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
 * The record of a volume that is offline: its superblock at the time it was taken offline by command, and the keys
 * changed since. With this record the volume can return and keep its content, except for the changed objects.
 *
 * <p>Thread-safe: {@link #recordMissedChange} may be called from any thread; the other methods require the store's life
 * cycle lock.
 */
public final class OfflineVolume {
    /** Limit of recorded keys; above it the volume starts empty. */
    public static final int KEYS_MAX = 1 << 16;
    /** Limit of keys that {@link #end} processes. Threads that change a key wait meanwhile. */
    private static final int LAST_KEYS_MAX = 1 << 10;

    private final String reason;
    private final ReentrantLock lock = new ReentrantLock();
    private Set<StoreKey> changed = new HashSet<>();
    private boolean tooMany;
    /** True once the volume has returned, so that no more keys are recorded. */
    private boolean ended;

    private @Nullable Superblock lastSuperblock;

    /** Creates the record at the time the volume goes offline. */
    public OfflineVolume(String reason) {
        this.reason = reason;
    }

    /** Returns why the volume is offline. */
    public String reason() {
        return reason;
    }

    /** Returns the superblock at the time the volume went offline; null if its content cannot be trusted. */
    @Nullable
    Superblock lastSuperblock() {
        return lastSuperblock;
    }

    /** Records the superblock of the cleanly closed volume. */
    void lastSuperblock(Superblock superblock) {
        lastSuperblock = superblock;
    }

    /** Discards the recorded superblock, because the content cannot be trusted any more: the volume starts empty. */
    void forgetSuperblock() {
        lastSuperblock = null;
    }

    /**
     * Records a change of the key; false if the volume has returned, so that the caller must apply the change to it.
     */
    boolean recordMissedChange(StoreKey key) {
        lock.lock();
        try {
            if (ended) {
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
    List<StoreKey> takeKeys() {
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
     * Applies the remaining keys to the volume and makes it a member. Called with the lock held, so that no change is
     * recorded meanwhile.
     */
    interface Joining {
        void join(List<StoreKey> remaining);
    }

    /**
     * Ends the recording and makes the volume a member. Changes wait meanwhile. To keep that wait short, this method
     * does nothing if more than {@value #LAST_KEYS_MAX} recorded keys remain.
     *
     * @param empty true if the volume returns without content, so that no recorded change concerns it
     * @return true if the recording has ended
     */
    boolean end(boolean empty, Joining joining) {
        lock.lock();
        try {
            if (!empty && (tooMany || changed.size() > LAST_KEYS_MAX)) {
                return false;
            }
            joining.join(empty ? List.of() : List.copyOf(changed));
            ended = true;
            return true;
        } finally {
            lock.unlock();
        }
    }
}
