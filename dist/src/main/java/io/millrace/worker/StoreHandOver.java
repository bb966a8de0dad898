package io.millrace.worker;

import io.millrace.store.CacheStore;
import io.millrace.worker.control.ControlMessage;
import java.io.IOException;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The hand-over of the store between two workers, on the side of the worker. It covers the roles of predecessor and
 * successor.
 *
 * <p>Not thread-safe; confined to the worker's command thread.
 */
final class StoreHandOver {
    /**
     * Limit of the attempts to open the store again. A failed successor exits within this time, and its exit releases
     * the store.
     */
    static final long REOPEN_NANOS = TimeUnit.SECONDS.toNanos(10);

    private static final long RETRY_MILLIS = 100;

    private static final Logger LOG = LoggerFactory.getLogger(StoreHandOver.class);

    private final StoreChangeSender.Link link;
    private final Executor commands;
    private final Runnable drain;
    /** Sends changes to the successor. */
    private final StoreChangeSender changeSender;
    /** Sends changes to the predecessor. */
    private final StoreChangeSender toPredecessor;

    /** Changes that the predecessor has refused. They wait until it accepts no further request. */
    private final Queue<CompletableFuture<Void>> refused = new ConcurrentLinkedQueue<>();

    private volatile boolean predecessorClosed;
    private boolean released;
    private boolean reopening;
    private boolean draining;
    /** False for a successor until the launcher has confirmed that it is the current worker. */
    private boolean takeoverDone = true;

    /**
     * Creates the state of a worker that has no predecessor.
     *
     * @param link sends a message to the launcher; returns false if there is no launcher
     * @param commands executor of the worker's command thread
     * @param drain ends the worker if the store cannot be opened again
     */
    StoreHandOver(StoreChangeSender.Link link, Executor commands, Runnable drain) {
        this.link = link;
        this.commands = commands;
        this.drain = drain;
        changeSender = StoreChangeSender.toSuccessor(link);
        toPredecessor = StoreChangeSender.toPredecessor(link);
    }

    /**
     * Prepares the start of serving. Called once, before the proxy starts.
     *
     * @param overlapping whether a predecessor still accepts connections
     * @return the predecessor; null if there is none
     */
    CacheStore.@Nullable Predecessor prepareServing(boolean overlapping) {
        takeoverDone = !overlapping;
        return overlapping ? this::tellPredecessor : null;
    }

    /** Sends a change to the predecessor. Any thread. */
    private CompletionStage<?> tellPredecessor(byte[] change) {
        CompletableFuture<Void> applied = new CompletableFuture<>();
        toPredecessor.apply(change, failure -> {
            if (failure == null || predecessorClosed) {
                applied.complete(null);
            } else {
                refused.add(applied);
            }
        });
        if (predecessorClosed) {
            onNoPredecessor();
        }
        return applied;
    }

    private void onPredecessorClosed(ServedProxy proxy) {
        proxy.predecessor(null);
        predecessorClosed = true;
        onNoPredecessor();
    }

    /** Completes the changes that wait for the predecessor. Any thread. */
    private void onNoPredecessor() {
        toPredecessor.answerAll(null);
        for (CompletableFuture<Void> next = refused.poll(); next != null; next = refused.poll()) {
            next.complete(null);
        }
    }

    /** Executes a message of the hand-over to a serving worker. Returns false for any other message. */
    boolean execute(ControlMessage message, ServedProxy proxy) {
        if (message instanceof ControlMessage.ReleaseStore && !draining) {
            release(proxy);
        } else if (message instanceof ControlMessage.ReopenStore && !draining) {
            beginReopen(proxy);
        } else if (message instanceof ControlMessage.TakeoverDone) {
            takeoverDone = true;
        } else if (message instanceof ControlMessage.PredecessorClosed) {
            onPredecessorClosed(proxy);
        } else if (message instanceof ControlMessage.Change change) {
            proxy.applyChange(
                    change.content(),
                    problem -> link.send(new ControlMessage.ChangeMade(
                            change.number(), problem == null ? "" : String.valueOf(problem.getMessage()))));
        } else {
            return false;
        }
        return true;
    }

    /** Handles the result of a change that this worker has sent to its successor or predecessor. */
    void onChangeMade(ControlMessage.ChangeMade message) {
        (message.number() < 0 ? toPredecessor : changeSender).onReply(message);
    }

    private void release(ServedProxy proxy) {
        if (reopening) {
            // Opening the store again was in progress and has not succeeded yet, so the store is still released.
            reopening = false;
        } else if (!released) {
            try {
                released = true;
                proxy.release(changeSender);
            } catch (IOException e) {
                LOG.error("an error occurred while the store was released for the new worker", e);
            }
        }
        link.send(new ControlMessage.StoreReleased());
    }

    private void beginReopen(ServedProxy proxy) {
        if (released && !reopening) {
            reopening = true;
            reopenStore(proxy, System.nanoTime() + REOPEN_NANOS);
        }
    }

    private void reopenStore(ServedProxy proxy, long deadlineNanos) {
        if (!reopening || draining) {
            return;
        }
        try {
            proxy.reopenStore();
            reopening = false;
            released = false;
            changeSender.answerAll(null);
            LOG.info("the store is open again; this worker continues to serve");
            link.send(new ControlMessage.StoreReopened());
        } catch (IOException e) {
            if (System.nanoTime() - deadlineNanos > 0) {
                LOG.error("the store cannot be opened again, so this worker exits: {}", e.getMessage());
                reopening = false;
                drain.run();
            } else {
                LOG.debug("the store is still in use by another process, retrying: {}", e.getMessage());
                CompletableFuture.delayedExecutor(RETRY_MILLIS, TimeUnit.MILLISECONDS, commands)
                        .execute(() -> reopenStore(proxy, deadlineNanos));
            }
        }
    }

    /** Returns true if a successor owns the store. */
    boolean isReleased() {
        return released;
    }

    /** Records that the worker drains. From now on it does not open its store again. */
    void markDraining() {
        draining = true;
    }

    /**
     * Handles the death of the launcher. A worker that has released its store opens it again.
     *
     * @return true if this worker must exit, because it is a successor whose take-over the launcher has not confirmed
     */
    boolean launcherGone(ServedProxy proxy) {
        changeSender.answerAll(
                new IOException("the launcher has exited, so the change cannot be sent to the new worker"));
        if (takeoverDone) {
            onPredecessorClosed(proxy);
        }
        // Otherwise this worker exits, and the predecessor opens the store again. The waiting changes get no reply,
        // because the predecessor has not seen them.
        beginReopen(proxy);
        return !takeoverDone;
    }
}
