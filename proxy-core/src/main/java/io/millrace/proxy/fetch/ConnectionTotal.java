package io.millrace.proxy.fetch;

import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The connections of all event loops to one host and port, for a limit over the whole process.
 *
 * <p>Each pool acquires a place for each of its connections, idle ones included, and releases it when the connection is
 * closed. A pool without a place waits in one queue with the pools of other event loops, once, whatever its number of
 * calls. A free place goes to the first pool of the queue; for a further place the pool waits at the end again. So a
 * busy event loop cannot take every place.
 *
 * <p>Tunnels are not counted; they have a limit of their own.
 *
 * <p>Thread-safe, without locks. The queue has at most one entry per pool.
 */
final class ConnectionTotal {
    /** A pool of one event loop. Both methods may be called on any thread. */
    interface Member {
        /** Called when the pool got a place for which it has waited. */
        void onPlace();

        /** Called when another pool waits: asks for a place that this pool can do without. */
        void onDemand();
    }

    /**
     * A pool that waits for a place.
     *
     * @param held places of the pool when it began to wait
     * @param limit limit of places that applies to the waiting call
     * @param promised whether a pool is closing a shared connection for this one
     */
    record Waiter(Member member, int held, int limit, AtomicBoolean promised) {
        Waiter(Member member, int held, int limit) {
            this(member, held, limit, new AtomicBoolean());
        }
    }

    private final AtomicInteger places = new AtomicInteger();
    private final Queue<Waiter> waiting = new ConcurrentLinkedQueue<>();
    private final Set<Member> members = ConcurrentHashMap.newKeySet();

    void join(Member member) {
        members.add(member);
    }

    /** Removes a pool, which has no places and does not wait. Returns true if no pool is left. */
    boolean leave(Member member) {
        members.remove(member);
        return members.isEmpty();
    }

    /** The places in use. */
    int places() {
        return places.get();
    }

    /**
     * Takes a place if the limit permits it and no other pool waits.
     *
     * @param limit 0 for no limit
     */
    boolean tryAcquire(int limit) {
        if (limit == 0) {
            places.incrementAndGet();
            return true;
        }
        return waiting.isEmpty() && takeBelow(limit);
    }

    /** Gives back places, which go to waiting pools first. */
    void release(int count) {
        places.addAndGet(-count);
        serve();
    }

    /** Waits for a place. Asks the other pools for one if none is free. */
    void await(Waiter waiter) {
        waiting.add(waiter);
        serve();
        if (waiting.contains(waiter)) {
            for (Member member : members) {
                if (member != waiter.member()) {
                    member.onDemand();
                }
            }
        }
    }

    /** Ends a wait. Returns false if the place was granted already: then {@link Member#onPlace} follows. */
    boolean withdraw(Waiter waiter) {
        boolean removed = waiting.remove(waiter);
        if (removed) {
            // The next one may have a higher limit.
            serve();
        }
        return removed;
    }

    /** Returns true if a pool waits for a place. */
    boolean isAwaited() {
        return !waiting.isEmpty();
    }

    /**
     * Returns true if a pool should leave a place that has become free to the first other waiting pool: if that pool
     * has at least two places less, or none at all while there are fewer places than pools.
     *
     * @param held places of the asking pool
     */
    boolean isOwed(Member by, int held) {
        Waiter first = waiting.peek();
        if (first != null && first.member() == by) {
            first = null;
            for (Waiter each : waiting) {
                if (each.member() != by) {
                    first = each;
                    break;
                }
            }
        }
        if (first == null) {
            return false;
        }
        return first.held() + 1 < held || (first.held() == 0 && first.limit() < members.size());
    }

    /** Returns true, once for each wait, if the first waiting pool needs a shared connection to be closed for it. */
    boolean promise() {
        Waiter first = waiting.peek();
        return first != null && first.promised().compareAndSet(false, true);
    }

    /** Grants free places to waiting pools, in their order. */
    private void serve() {
        Waiter first;
        while ((first = waiting.peek()) != null && takeBelow(first.limit())) {
            Waiter granted = waiting.poll();
            if (granted == null) {
                // Another thread was faster; the next look finds the pools that came since.
                places.decrementAndGet();
            } else {
                granted.member().onPlace();
            }
        }
    }

    private boolean takeBelow(int limit) {
        int now;
        do {
            now = places.get();
            if (now >= limit) {
                return false;
            }
        } while (!places.compareAndSet(now, now + 1));
        return true;
    }
}
