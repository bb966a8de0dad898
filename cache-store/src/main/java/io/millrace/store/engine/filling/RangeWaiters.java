package io.millrace.store.engine.filling;

import io.millrace.store.RangeCallback;
import io.millrace.store.engine.object.Replies;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;

/**
 * Readers that wait for ranges of one body.
 *
 * <p>Confined to whoever guards the body; what {@link #settle} hands out is called outside.
 */
final class RangeWaiters {
    /** Readers that may wait for one body; one more is told at once that its range is not to be expected. */
    private static final int WAITING_MAX = 10_000;

    private List<Waiter> waiting = new ArrayList<>(1);

    /** What is known of a range. */
    enum Verdict {
        READABLE,
        EXPECTED,
        HOPELESS
    }

    /** Looks at a range. */
    @FunctionalInterface
    interface Judge {
        /** Says how things stand with the range; may move the waiter's position to behind what is there. */
        Verdict judge(Waiter waiter);
    }

    /** One reader. */
    static final class Waiter {
        final long end;
        private final Executor replyOn;
        private final RangeCallback reply;
        /** Up to here all was there when it was last looked at. */
        long position;

        private boolean readable;

        Waiter(long position, long end, Executor replyOn, RangeCallback reply) {
            this.position = position;
            this.end = end;
            this.replyOn = replyOn;
            this.reply = reply;
        }

        /** Calls back. Outside of any lock. */
        void deliver() {
            Replies.range(replyOn, reply, readable);
        }
    }

    boolean isEmpty() {
        return waiting.isEmpty();
    }

    /** Lets a reader wait; false when it cannot, and is to be delivered at once. */
    boolean add(Waiter waiter) {
        return waiting.size() < WAITING_MAX && waiting.add(waiter);
    }

    /** Takes out those whose wait is over, to be delivered by the caller. */
    List<Waiter> settle(Judge judge) {
        if (waiting.isEmpty()) {
            return List.of();
        }
        List<Waiter> done = new ArrayList<>();
        List<Waiter> left = new ArrayList<>();
        for (Waiter waiter : waiting) {
            Verdict verdict = judge.judge(waiter);
            waiter.readable = verdict == Verdict.READABLE;
            (verdict == Verdict.EXPECTED ? left : done).add(waiter);
        }
        waiting = left;
        return done;
    }
}
