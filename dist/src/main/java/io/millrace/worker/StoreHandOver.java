package io.millrace.worker;

import io.millrace.worker.control.ControlMessage;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A worker's part in handing its store to a successor, or in taking it over from a predecessor.
 *
 * <p>Confined to the worker's command thread.
 */
final class StoreHandOver {
    /** A successor that did not come up ends within this time, and its lease with it. */
    static final long TAKE_BACK_NANOS = TimeUnit.SECONDS.toNanos(10);

    private static final long RETRY_MILLIS = 100;

    private static final Logger LOG = LoggerFactory.getLogger(StoreHandOver.class);

    private final PassedChanges.Link link;
    private final Executor commands;
    private final Runnable drain;
    private final PassedChanges passed;
    private final CompletableFuture<Void> predecessorClosed = new CompletableFuture<>();
    private boolean released;
    private boolean takingBack;
    private boolean drains;
    private boolean takenOver = true;

    /**
     * @param link sends to the launcher; false where there is none
     * @param commands the worker's command thread
     * @param drain ends the worker when its store is not to be had any more
     */
    StoreHandOver(PassedChanges.Link link, Executor commands, Runnable drain) {
        this.link = link;
        this.commands = commands;
        this.drain = drain;
        passed = new PassedChanges(link);
    }

    /**
     * The worker is about to serve.
     *
     * @param overlapping whether a predecessor accepts meanwhile
     * @return completes when the predecessor accepts no more
     */
    CompletionStage<Void> followsPredecessor(boolean overlapping) {
        takenOver = !overlapping;
        if (!overlapping) {
            predecessorClosed.complete(null);
        }
        return predecessorClosed;
    }

    /** Does what the launcher tells a serving worker; false when the message is of another kind. */
    boolean execute(ControlMessage message, ServedProxy proxy) {
        if (message instanceof ControlMessage.Release) {
            release(proxy);
        } else if (message instanceof ControlMessage.TakeBack) {
            beginTakeBack(proxy);
        } else if (message instanceof ControlMessage.TakenOver) {
            takenOver = true;
        } else if (message instanceof ControlMessage.PredecessorClosed) {
            predecessorClosed.complete(null);
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

    void made(ControlMessage.ChangeMade message) {
        passed.made(message);
    }

    private void release(ServedProxy proxy) {
        if (takingBack) {
            // The store is still free.
            takingBack = false;
        } else if (!released) {
            try {
                released = true;
                proxy.release(passed);
            } catch (IOException e) {
                LOG.error("the store could not be given back cleanly", e);
            }
        }
        link.send(new ControlMessage.Released());
    }

    private void beginTakeBack(ServedProxy proxy) {
        if (released && !takingBack) {
            takingBack = true;
            takeBack(proxy, System.nanoTime() + TAKE_BACK_NANOS);
        }
    }

    private void takeBack(ServedProxy proxy, long deadlineNanos) {
        if (!takingBack || drains) {
            return;
        }
        try {
            proxy.takeBack();
            takingBack = false;
            released = false;
            passed.answerAll(null);
            LOG.info("the store is open again; serving on");
            link.send(new ControlMessage.TakenBack());
        } catch (IOException e) {
            if (System.nanoTime() - deadlineNanos > 0) {
                LOG.error("the store cannot be opened again, and this worker ends: {}", e.getMessage());
                takingBack = false;
                drain.run();
            } else {
                LOG.debug("the store is still another's: {}", e.getMessage());
                CompletableFuture.delayedExecutor(RETRY_MILLIS, TimeUnit.MILLISECONDS, commands)
                        .execute(() -> takeBack(proxy, deadlineNanos));
            }
        }
    }

    /** The worker accepts no more; nothing is taken back from now on. */
    void drains() {
        drains = true;
    }

    /**
     * The launcher has died: a worker that has released its store takes it back.
     *
     * @return whether this worker is the successor, and is not known to have taken over: then it ends
     */
    boolean launcherGone(ServedProxy proxy) {
        passed.answerAll(new IOException("the launcher is gone: the successor cannot be told"));
        predecessorClosed.complete(null);
        beginTakeBack(proxy);
        return !takenOver;
    }
}
