package io.millrace.proxy.fetch;

import io.netty.channel.EventLoop;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * The calls that wait for a connection of a pool, in order of arrival, with a timer for the first one to expire.
 *
 * <p>Confined to one event loop.
 */
final class WaitingCalls {
    private final ArrayDeque<PooledCall> calls = new ArrayDeque<>();
    private final Deadline deadline;
    private final OriginStatistics statistics;

    /** @param onExpiry runs when calls have expired: take them by {@link #takeExpired} */
    WaitingCalls(EventLoop eventLoop, OriginStatistics statistics, Runnable onExpiry) {
        this.statistics = statistics;
        deadline = new Deadline(eventLoop, onExpiry);
    }

    boolean isEmpty() {
        return calls.isEmpty();
    }

    int size() {
        return calls.size();
    }

    /** The call that waits for the longest time; null for none. */
    @Nullable
    PooledCall first() {
        return calls.peekFirst();
    }

    /** Adds a call at the end of the queue. It waits for at most this many nanoseconds. */
    void add(PooledCall call, long timeoutNanos) {
        call.waitUntil(deadline.now() + timeoutNanos);
        calls.addLast(call);
        statistics.callsWaiting++;
        if (deadline.remainingNanos() > timeoutNanos) {
            deadline.set(timeoutNanos);
        }
    }

    /** Takes the first call; null for none. */
    @Nullable
    PooledCall poll() {
        PooledCall next = calls.pollFirst();
        if (next != null) {
            statistics.callsWaiting--;
        }
        return next;
    }

    /** Puts back the call that was taken last. */
    void putBack(PooledCall call) {
        calls.addFirst(call);
        statistics.callsWaiting++;
    }

    /** Removes a call. Returns false if it does not wait. */
    boolean remove(PooledCall call) {
        boolean removed = calls.remove(call);
        if (removed) {
            statistics.callsWaiting--;
        }
        return removed;
    }

    /** Takes the expired calls, and sets the timer for the others. */
    Queue<PooledCall> takeExpired() {
        long now = deadline.now();
        long nearest = Long.MAX_VALUE;
        ArrayDeque<PooledCall> expired = new ArrayDeque<>();
        for (Iterator<PooledCall> each = calls.iterator(); each.hasNext(); ) {
            PooledCall call = each.next();
            long remaining = call.waitsUntil() - now;
            if (remaining <= 0) {
                each.remove();
                statistics.callsWaiting--;
                expired.addLast(call);
            } else {
                nearest = Math.min(nearest, remaining);
            }
        }
        if (nearest != Long.MAX_VALUE) {
            deadline.set(nearest);
        }
        return expired;
    }

    /** Cancels the timer. */
    void cancelTimer() {
        deadline.cancel();
    }
}
