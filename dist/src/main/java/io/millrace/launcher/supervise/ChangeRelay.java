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
 * Changes of the store on their way from a worker that has given it back to the one that has it.
 *
 * <p>Confined to the supervisor's event loop.
 */
final class ChangeRelay {
    /** Changes held for a worker that is not ready yet: as many as a store remembers for itself. */
    static final int HELD_MAX = 1 << 16;

    private record Held(WorkerProcess from, ControlMessage.Change change) {}

    private record Sent(WorkerProcess from, long number, WorkerProcess to) {}

    private final Queue<Held> held = new ArrayDeque<>();
    private final Map<Long, Sent> sent = new HashMap<>();
    private long numbers;

    /**
     * Passes a change on, at once or when {@link #ready} names a worker.
     *
     * @param to the worker that has the store; null when none is ready
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
                    change.number(), "changes wait for the next worker: limit=" + HELD_MAX));
        }
    }

    /** The worker has the store now. */
    void ready(WorkerProcess to) {
        for (Held next = held.poll(); next != null; next = held.poll()) {
            pass(next.from(), next.change(), to);
        }
    }

    /** A worker has answered. */
    void made(ControlMessage.ChangeMade answer) {
        Sent request = sent.remove(answer.number());
        if (request != null) {
            request.from().send(new ControlMessage.ChangeMade(request.number(), answer.failure()));
        }
    }

    /** Drops held changes: the worker that passed them on has its store again. */
    void drop() {
        held.clear();
    }

    /** The worker is gone: what it was sent and has not answered for has failed. */
    void gone(WorkerProcess worker) {
        held.removeIf(change -> change.from() == worker);
        for (Iterator<Sent> all = sent.values().iterator(); all.hasNext(); ) {
            Sent request = all.next();
            if (request.to() == worker) {
                request.from()
                        .send(new ControlMessage.ChangeMade(request.number(), "the worker that has the store died"));
            }
            if (request.to() == worker || request.from() == worker) {
                all.remove();
            }
        }
    }
}
