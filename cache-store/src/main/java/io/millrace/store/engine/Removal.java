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
 * <p>It replies when every volume that may hold an object of the key has appended a tombstone (the record of the
 * removal). Until then, a pending change of the key hides the object.
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
    /** Number of outstanding tombstones, plus one until the caller has queued all tombstones. */
    private final AtomicInteger outstanding = new AtomicInteger(1);

    private final AtomicReference<@Nullable IOException> failure = new AtomicReference<>();
    /** True if the key held an object before the removal. */
    private volatile boolean present;
    /** True if the change stays pending after the reply, because the volumes did not get the tombstone. */
    private volatile boolean refused;

    private boolean forSuccessor;

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
    boolean isForSuccessor() {
        return forSuccessor;
    }

    /**
     * Decides that the successor performs the removal. Call inside {@link PendingChanges#change}. The caller must call
     * {@link #sendToSuccessor} after that change.
     */
    void markForSuccessor() {
        refused = true;
        forSuccessor = true;
    }

    /** Passes the removal to the successor. Never call inside {@link PendingChanges#change}. */
    void sendToSuccessor(Successor successor) {
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
     * Records that one tombstone, or the queueing of the tombstones by the caller, has ended. The last of these calls
     * sends the reply. Never call inside {@link PendingChanges#change}.
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
