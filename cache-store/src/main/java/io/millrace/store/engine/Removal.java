package io.millrace.store.engine;

import io.millrace.store.RemoveCallback;
import io.millrace.store.StoreKey;
import io.millrace.store.Successor;
import io.millrace.store.disk.Volume;
import io.millrace.store.disk.VolumeState;
import io.millrace.store.disk.record.DiskKey;
import io.millrace.store.engine.object.Replies;
import io.millrace.store.engine.volume.PassedChange;
import java.io.IOException;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A removal of one key in progress.
 *
 * <p>It replies when every volume concerned has appended its tombstone (the record of the removal). Until then its
 * change hides the key's object.
 *
 * <p>Created and started by one thread, and ended by the volumes' threads, or by the successor: the store that takes
 * over the volumes.
 */
final class Removal<H> {
    private final PendingChanges<H> pending;
    private final StoreKey key;
    private final Executor replyOn;
    private final RemoveCallback reply;
    private final PendingChange<H> change = PendingChange.removed();
    /** Number of outstanding tombstones, plus one for the start itself. */
    private final AtomicInteger outstanding = new AtomicInteger(1);

    private final AtomicReference<@Nullable IOException> failure = new AtomicReference<>();
    /** True if the key held an object before the removal. */
    private volatile boolean present;
    /** True if the change stays pending after the reply. The volumes do not have the tombstone then. */
    private volatile boolean refused;

    private boolean passedOn;

    Removal(PendingChanges<H> pending, StoreKey key, Executor replyOn, RemoveCallback reply) {
        this.pending = pending;
        this.key = key;
        this.replyOn = replyOn;
        this.reply = reply;
    }

    PendingChange<H> change() {
        return change;
    }

    /** Records that the key held an object before the removal. */
    void markPresent() {
        present = true;
    }

    /**
     * Queues a tombstone on the volume. Returns false if the volume does not accept it; the caller then decides whether
     * the removal has failed.
     */
    boolean appendTo(Volume volume, DiskKey diskKey) {
        outstanding.incrementAndGet();
        boolean taken = volume.executeRemoval(() -> {
            boolean appended = false;
            try {
                if (volume.appendTombstone(diskKey)) {
                    present = true;
                }
                appended = true;
            } catch (IOException e) {
                failure.compareAndSet(null, e);
            } finally {
                if (!appended) {
                    failure.compareAndSet(null, new IOException(volume.directory() + ": no tombstone was written"));
                }
                endOne();
            }
        });
        if (!taken) {
            outstanding.decrementAndGet();
        }
        return taken;
    }

    /** Returns true if a tombstone of any volume is outstanding. */
    boolean isUnderWay() {
        return outstanding.get() > 1;
    }

    /** Records that a volume did not accept the tombstone. */
    void failed(Volume volume) {
        IOException reason = new IOException(volume.directory() + ": volume is " + volume.state());
        if (volume.state() == VolumeState.OFFLINE) {
            // An offline volume serves no lookups. It starts empty when it returns, because it missed this removal.
            failure.compareAndSet(null, reason);
        } else {
            refuse(reason);
        }
    }

    /**
     * Returns true if the successor, which owns the volumes, makes the removal durable. The change stays pending in
     * this store.
     */
    boolean isPassedOn() {
        return passedOn;
    }

    /**
     * Marks the removal for the successor. Call inside the change of the key. The caller must call {@link #passTo}
     * after that change.
     */
    void passOn() {
        refused = true;
        passedOn = true;
    }

    /** Passes the removal to the successor. Never call inside a change of a key. */
    void passTo(Successor successor) {
        outstanding.incrementAndGet();
        successor.apply(PassedChange.removal(key.bytes()), problem -> {
            if (problem != null) {
                failure.compareAndSet(null, problem);
            }
            endOne();
        });
    }

    /**
     * Records that the removal cannot be made durable. The change stays pending, so that at least this process treats
     * the key as removed.
     */
    void refuse(IOException reason) {
        refused = true;
        failure.compareAndSet(null, reason);
    }

    /**
     * Ends one outstanding tombstone, or the start. The last one sends the reply. Never call inside a change of a key.
     */
    void endOne() {
        if (outstanding.decrementAndGet() == 0) {
            if (!refused) {
                pending.remove(key, change);
            }
            Replies.deliver(replyOn, () -> reply.onRemove(present, failure.get()));
        }
    }
}
