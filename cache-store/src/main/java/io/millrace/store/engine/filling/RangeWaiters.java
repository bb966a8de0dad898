package io.millrace.store.engine.filling;

import io.millrace.store.RangeCallback;
import io.millrace.store.engine.object.Replies;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;

/**
 * The readers that wait until ranges of one body are readable.
 *
 * <p>Not thread-safe: the caller holds the lock of the body, and calls back the readers returned by
 * {@link #removeReady} after releasing the lock.
 */
final class RangeWaiters {
    /** Maximum number of waiting readers per body. A further reader immediately gets a negative result. */
    private static final int WAITING_MAX = 10_000;

    private List<Waiter> waiting = new ArrayList<>(1);

    /** The state of a range. */
    enum RangeState {
        /** All bytes of the range can be read. */
        READABLE,
        /** Bytes are missing, but an active writer may still add them. */
        EXPECTED,
        /** The body is unusable, or bytes are missing that no active writer will add. */
        UNAVAILABLE
    }

    /** Determines the state of a range. */
    @FunctionalInterface
    interface RangeCheck {
        /** Returns the state of the range; may advance the waiter's position past the bytes that are present. */
        RangeState check(Waiter waiter);
    }

    /** A waiting reader. */
    static final class Waiter {
        final long end;
        private final Executor replyOn;
        private final RangeCallback reply;
        /** Position up to which all bytes were present at the last check. */
        long position;

        private boolean readable;

        Waiter(long position, long end, Executor replyOn, RangeCallback reply) {
            this.position = position;
            this.end = end;
            this.replyOn = replyOn;
            this.reply = reply;
        }

        /** Calls back the reader. Call without holding any lock. */
        void deliver() {
            Replies.range(replyOn, reply, readable);
        }
    }

    boolean isEmpty() {
        return waiting.isEmpty();
    }

    /** Adds a reader. Returns false if the limit is reached; the caller then calls the reader back immediately. */
    boolean add(Waiter waiter) {
        return waiting.size() < WAITING_MAX && waiting.add(waiter);
    }

    /** Removes and returns the readers that need not wait any longer. The caller calls them back. */
    List<Waiter> removeReady(RangeCheck check) {
        if (waiting.isEmpty()) {
            return List.of();
        }
        List<Waiter> done = new ArrayList<>();
        List<Waiter> stillWaiting = new ArrayList<>();
        for (Waiter waiter : waiting) {
            RangeState state = check.check(waiter);
            waiter.readable = state == RangeState.READABLE;
            (state == RangeState.EXPECTED ? stillWaiting : done).add(waiter);
        }
        waiting = stillWaiting;
        return done;
    }
}
