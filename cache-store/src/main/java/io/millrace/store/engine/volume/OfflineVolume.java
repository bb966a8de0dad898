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
 * The time in which a volume is out by command: what it was when it left, and which keys changed without it, so that it
 * can return with all the rest.
 *
 * <p>Thread-safe: {@link #missed} from any thread; the rest is confined to who holds the store's life cycle lock.
 */
public final class OfflineVolume {
    /** Changed keys that are remembered; after more of them the volume starts empty. */
    public static final int KEYS_MAX = 1 << 16;
    /** Keys of which the volume may be told in the moment of its return, while changes wait for that. */
    private static final int LAST_KEYS_MAX = 1 << 10;

    private final String reason;
    private final ReentrantLock lock = new ReentrantLock();
    private Set<StoreKey> changed = new HashSet<>();
    private boolean tooMany;
    private boolean over;
    private @Nullable Superblock left;

    /** An absence that begins now. */
    public OfflineVolume(String reason) {
        this.reason = reason;
    }

    /** Why it is out. */
    public String reason() {
        return reason;
    }

    /** The superblock with which it left; null when nobody knows what it holds. */
    @Nullable
    Superblock left() {
        return left;
    }

    /** It left in order. */
    void left(Superblock superblock) {
        left = superblock;
    }

    /** What it holds is not known any more: it starts empty. */
    void forgetLeft() {
        left = null;
    }

    /** Notes that what the key holds changed; false when the volume is back, and so is to be told itself. */
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

    /** Whether it cannot be told any more what the volume missed. */
    boolean isTooMany() {
        lock.lock();
        try {
            return tooMany;
        } finally {
            lock.unlock();
        }
    }

    /** The keys noted since this was last asked. */
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

    /** Ends it in one step with the return of the volume, who is given the keys that are left. */
    interface Return {
        void with(List<StoreKey> keys);
    }

    /**
     * Ends the absence, unless there is more to tell than can be told while changes wait; whether it did.
     *
     * @param empty whether the volume returns empty, and has missed nothing that matters
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
