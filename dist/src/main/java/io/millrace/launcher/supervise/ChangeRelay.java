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
 * Relays changes of the store from a worker that has released the store to the worker that holds it.
 *
 * <p>Not thread-safe; confined to the supervisor's event loop.
 */
final class ChangeRelay {
    /** Limit of changes that are queued until a worker is ready; the same as the limit within a store. */
    static final int HELD_MAX = 1 << 16;

    private record Held(WorkerProcess from, ControlMessage.Change change) {}

    private record Sent(WorkerProcess from, long number, WorkerProcess to) {}

    private final Queue<Held> held = new ArrayDeque<>();
    private final Map<Long, Sent> sent = new HashMap<>();
    private long numbers;

    /**
     * Sends a change to {@code to}, or queues it until {@link #ready}.
     *
     * @param to the worker that holds the store; null if none is ready
     */
    void pass(WorkerProcess from, ControlMessage.Change change, @Nullable WorkerProcess to) {
        if (to != null) {
            numbers++;
            sent.put(numbers, new Sent(from, change.number(), to));
            to.send(new ControlMessage.Change(numbers, change.content()));
        } else if (held.size() < HELD_MAX) {
            held.add(new Held(from, change));
        } else {
            from.send(new ControlMessage.ChangeMade(
                    change.number(), "too many changes of the store wait for the new worker: limit=" + HELD_MAX));
        }
    }

    /** Sends the queued changes to the worker that now holds the store. */
    void ready(WorkerProcess to) {
        for (Held next = held.poll(); next != null; next = held.poll()) {
            pass(next.from(), next.change(), to);
        }
    }

    /** Returns the result of a change to its sender. */
    void made(ControlMessage.ChangeMade answer) {
        Sent request = sent.remove(answer.number());
        if (request != null) {
            request.from().send(new ControlMessage.ChangeMade(request.number(), answer.failure()));
        }
    }

    /** Drops queued changes, because their sender has opened its store again. */
    void drop() {
        held.clear();
    }

    /** Handles the exit of a worker: changes that it has not confirmed have failed. */
    void gone(WorkerProcess worker) {
        held.removeIf(change -> change.from() == worker);
        for (Iterator<Sent> all = sent.values().iterator(); all.hasNext(); ) {
            Sent request = all.next();
            if (request.to() == worker) {
                request.from()
                        .send(new ControlMessage.ChangeMade(
                                request.number(), "the worker that has the store open has exited"));
            }
            if (request.to() == worker || request.from() == worker) {
                all.remove();
            }
        }
    }
}
