package io.millrace.launcher.supervise;

import io.millrace.launcher.process.WorkerProcess;
import io.millrace.worker.control.ControlMessage;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * The relay of changes to the store, such as purges, between an old worker, which has released the store, and its
 * successor, which has opened it. Changes pass in both directions.
 *
 * <p>Not thread-safe; confined to the supervisor's event loop.
 */
final class ChangeRelay {
    /** Limit of changes that are queued until the new worker is ready. The store has the same limit. */
    static final int QUEUED_MAX = 1 << 16;

    /** A change that is queued. */
    private record QueuedChange(WorkerProcess from, ControlMessage.Change change) {}

    /** A change that was sent and has no reply yet. {@code number} is the sender's number of the change. */
    private record SentChange(WorkerProcess from, long number, WorkerProcess to) {}

    private final Queue<QueuedChange> queued = new ArrayDeque<>();
    private final Map<Long, SentChange> sent = new HashMap<>();
    /** Number of the last change that was sent. */
    private long lastNumber;

    /**
     * Sends a change to a worker, or queues it until {@link #ready}.
     *
     * @param to the worker that has opened the store; null if no worker is ready
     */
    void pass(WorkerProcess from, ControlMessage.Change change, @Nullable WorkerProcess to) {
        if (to != null) {
            lastNumber++;
            sent.put(lastNumber, new SentChange(from, change.number(), to));
            to.send(new ControlMessage.Change(lastNumber, change.content()));
        } else if (queued.size() < QUEUED_MAX) {
            queued.add(new QueuedChange(from, change));
        } else {
            from.send(new ControlMessage.ChangeMade(
                    change.number(), "too many changes of the store wait for the new worker: limit=" + QUEUED_MAX));
        }
    }

    /** Sends the queued changes to the worker that has opened the store. */
    void ready(WorkerProcess to) {
        for (QueuedChange next = queued.poll(); next != null; next = queued.poll()) {
            pass(next.from(), next.change(), to);
        }
    }

    /** Returns the result of a change to its sender. */
    void onChangeMade(ControlMessage.ChangeMade answer) {
        SentChange request = sent.remove(answer.number());
        if (request != null) {
            request.from().send(new ControlMessage.ChangeMade(request.number(), answer.failure()));
        }
    }

    /** Drops the queued changes. To be called when their sender opens the store again and applies them itself. */
    void drop() {
        queued.clear();
    }

    /** Handles the exit of a worker. Changes that were sent to it and have no reply have failed. */
    void onExit(WorkerProcess worker) {
        queued.removeIf(change -> change.from() == worker);
        for (Iterator<SentChange> all = sent.values().iterator(); all.hasNext(); ) {
            SentChange request = all.next();
            if (request.to() == worker) {
                request.from().send(new ControlMessage.ChangeMade(request.number(), "the other worker has exited"));
            }
            if (request.to() == worker || request.from() == worker) {
                all.remove();
            }
        }
    }
}
