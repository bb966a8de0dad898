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
 * One removal under way: replies when every volume concerned has its tombstone.
 *
 * <p>Made and started by one thread, ended by the volumes'.
 */
final class Removal<H> {
    private final PendingChanges<H> pending;
    private final StoreKey key;
    private final Executor replyOn;
    private final RemoveCallback reply;
    private final PendingChange<H> change = PendingChange.removed();
    /** Tombstones to come, and one for the start itself. */
    private final AtomicInteger outstanding = new AtomicInteger(1);

    private final AtomicReference<@Nullable IOException> failure = new AtomicReference<>();
    private volatile boolean present;
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

    /** Something was found that is now gone. */
    void wasPresent() {
        present = true;
    }

    /** Whether the volume takes it; what one that does not means for the removal is for the caller to say. */
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
                    failure.compareAndSet(null, new IOException(volume.directory() + ": the tombstone failed"));
                }
                done();
            }
        });
        if (!taken) {
            outstanding.decrementAndGet();
        }
        return taken;
    }

    /** Whether any volume is yet to have its tombstone. */
    boolean isUnderWay() {
        return outstanding.get() > 1;
    }

    /** A member did not take it. */
    void failed(Volume volume) {
        IOException reason = new IOException(volume.directory() + ": volume is " + volume.state());
        if (volume.state() == VolumeState.OFFLINE) {
            // It finds nothing any more, and will not be trusted with what it missed.
            failure.compareAndSet(null, reason);
        } else {
            refuse(reason);
        }
    }

    /** Whether the successor, which has the volumes, is to make it durable; here it stays pending. */
    boolean isPassedOn() {
        return passedOn;
    }

    /** Leaves it to the successor. Inside the change; {@link #tell} follows. */
    void passOn() {
        refused = true;
        passedOn = true;
    }

    /** Passes it on. Never inside a change of the pending map. */
    void tell(Successor successor) {
        outstanding.incrementAndGet();
        successor.apply(PassedChange.removal(key.bytes()), problem -> {
            if (problem != null) {
                failure.compareAndSet(null, problem);
            }
            done();
        });
    }

    /** It cannot be made durable: it stays pending, so that at least this process sees it. */
    void refuse(IOException reason) {
        refused = true;
        failure.compareAndSet(null, reason);
    }

    /** One of those outstanding is through. Never inside a change of the pending map. */
    void done() {
        if (outstanding.decrementAndGet() == 0) {
            if (!refused) {
                pending.remove(key, change);
            }
            Replies.deliver(replyOn, () -> reply.onRemove(present, failure.get()));
        }
    }
}
