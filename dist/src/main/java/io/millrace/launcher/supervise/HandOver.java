package io.millrace.launcher.supervise;

import io.millrace.launcher.process.WorkerIdentity;
import io.millrace.launcher.process.WorkerProcess;
import io.millrace.launcher.process.WorkerState;
import io.millrace.worker.control.ControlMessage;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The hand-over of the store from the serving worker to its successor. Meanwhile this class relays the changes of the
 * store that the old worker receives.
 *
 * <pre>
 * begin:     ReleaseStore to the serving worker, which still answers
 * released:  Serve to the successor, which opens the store
 * complete:  TakeoverDone to the successor, when it accepts connections
 * closed:    PredecessorClosed to the successor, when the old worker accepts no further request
 * change:    a change of the store (a removal or a journal entry) from the old worker to its successor;
 *            until "closed" also from the successor to the old worker
 * reopenStore:  ReopenStore to the serving worker, if the successor fails before it is complete
 * </pre>
 *
 * <p>Not thread-safe; confined to the event loop.
 */
final class HandOver {
    /**
     * Time limit from the order to release the store until the successor accepts connections. The serving worker
     * answers meanwhile, so a longer time costs clients nothing. A limit of 10 s was too short: new workers were killed
     * on machines with ten times the load that their processors can handle.
     */
    static final long TIMEOUT_SECONDS = 30;

    private static final Logger LOG = LoggerFactory.getLogger(HandOver.class);

    /**
     * First protocol version in which a worker can release the store and continue to answer requests.
     */
    private static final int VERSION_WITH_RELEASE = 5;

    /** Kills a worker. */
    interface Killer {
        void kill(WorkerProcess worker, String reason);
    }

    private final EventLoop loop;
    private final WorkerIdentity identity;
    private final Killer killer;
    private final ChangeRelay relay = new ChangeRelay();
    /** Timeout of the hand-over; null if none is in progress. */
    private @Nullable ScheduledFuture<?> deadline;

    /** The predecessor of each worker, by the worker. Removed when the predecessor accepts no further request. */
    private final Map<WorkerProcess, WorkerProcess> predecessors = new HashMap<>();

    /**
     * Creates the state without a hand-over in progress.
     *
     * @param identity file that names the serving worker, and the successor during the hand-over
     */
    HandOver(EventLoop loop, WorkerIdentity identity, Killer killer) {
        this.loop = loop;
        this.identity = identity;
        this.killer = killer;
    }

    /** Returns true if the worker can release its store and continue to answer. */
    static boolean isPossible(WorkerProcess serving) {
        return serving.protocolVersion() >= VERSION_WITH_RELEASE && serving.state() == WorkerState.READY;
    }

    /** Returns true from the order to release the store until the successor accepts connections. */
    boolean isInProgress() {
        return deadline != null;
    }

    /**
     * Orders the serving worker to release its store. Kills the successor if it does not accept connections in time.
     */
    void begin(WorkerProcess serving, WorkerProcess successor) {
        deadline = loop.schedule(
                () -> killer.kill(successor, "did not take over from the old worker within " + TIMEOUT_SECONDS + " s"),
                TIMEOUT_SECONDS,
                TimeUnit.SECONDS);
        serving.send(new ControlMessage.ReleaseStore());
    }

    /** Handles the release of the store. Orders the successor to open the store and to serve. */
    void released(WorkerProcess serving, WorkerProcess successor) {
        if (isInProgress()) {
            // The file names both workers. If this launcher dies now, one of the two exits by itself.
            identity.write(serving, successor);
            predecessors.put(successor, serving);
            successor.serve(true);
        }
    }

    /**
     * Completes the hand-over, because the successor accepts connections. The old worker is about to stop accepting.
     */
    void complete(WorkerProcess successor) {
        end();
        successor.send(new ControlMessage.TakeoverDone());
        identity.write(successor);
    }

    /** Completes the hand-over after the old worker has stopped accepting or has exited. */
    void completeAlone(WorkerProcess successor) {
        end();
        identity.write(successor);
        if (successor.isServeSent()) {
            // PredecessorClosed was sent when the old worker stopped accepting or exited.
            successor.send(new ControlMessage.TakeoverDone());
        } else if (successor.isAssigned()) {
            // The order ends the warm-up of the successor early. A successor that has not connected yet will be ordered
            // to serve when it connects.
            successor.serve(false);
        }
    }

    /**
     * Ends the hand-over after a failure of the successor. The serving worker opens its store again.
     *
     * @param serving the serving worker; null if it has exited
     */
    void reopenStore(@Nullable WorkerProcess serving) {
        if (isInProgress() && serving != null && serving.state() == WorkerState.READY) {
            LOG.warn("no new worker took over; worker {} opens its store again and continues to serve", serving.pid());
            relay.drop();
            serving.send(new ControlMessage.ReopenStore());
            identity.write(serving);
        }
        end();
    }

    private void end() {
        ScheduledFuture<?> running = deadline;
        deadline = null;
        if (running != null) {
            running.cancel(false);
        }
    }

    /** Handles the message {@code Draining} or the exit of a worker. Informs the successor of this worker. */
    void closed(WorkerProcess worker) {
        for (Iterator<Map.Entry<WorkerProcess, WorkerProcess>> all =
                        predecessors.entrySet().iterator();
                all.hasNext(); ) {
            Map.Entry<WorkerProcess, WorkerProcess> pair = all.next();
            if (pair.getValue() == worker) {
                pair.getKey().send(new ControlMessage.PredecessorClosed());
                all.remove();
            }
        }
    }

    /** Handles the exit of a worker. */
    void exited(WorkerProcess worker) {
        predecessors.remove(worker);
        relay.onExit(worker);
        closed(worker);
    }

    /**
     * Relays a change of the store. A change for the successor goes to the serving worker, or is queued until {@link
     * #ready}. A change with a negative number goes to the predecessor of its sender, which may still answer requests.
     */
    void change(WorkerProcess from, ControlMessage.Change change, @Nullable WorkerProcess serving) {
        WorkerProcess predecessor = predecessors.get(from);
        if (change.number() >= 0) {
            relay.pass(from, change, serving != from && canApply(serving) ? serving : null);
        } else if (predecessor != null) {
            relay.pass(from, change, predecessor);
        } else {
            // The worker sent the change before it knew that its predecessor accepts no further request.
            from.send(new ControlMessage.ChangeMade(change.number(), ""));
        }
    }

    /** Returns true if the worker has opened the store, even if it drains. */
    private static boolean canApply(@Nullable WorkerProcess worker) {
        return worker != null && (worker.state() == WorkerState.READY || worker.state() == WorkerState.DRAINING);
    }

    /** Returns the result of a change to its sender. */
    void changeMade(ControlMessage.ChangeMade result) {
        relay.onChangeMade(result);
    }

    /** Sends the queued changes to the serving worker, which is ready. */
    void ready(WorkerProcess serving) {
        relay.ready(serving);
    }
}
