package io.millrace.proxy.fetch;

import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The connections of all event loops to one host and port, for a limit over the whole process.
 *
 * <p>Each pool acquires a place (the right to have one connection) for each of its connections, idle ones included, and
 * releases it when the connection is closed. Pools that need a place wait in one queue. A pool has one entry in the
 * queue, even if several of its calls wait. A free place goes to the first pool of the queue. To get a further place,
 * that pool waits at the end of the queue again. So a busy event loop cannot take every place.
 *
 * <p>Tunnels are not counted, because they have their own limit.
 *
 * <p>Thread-safe, without locks. The queue has at most one entry per pool.
 */
final class ConnectionTotal {
    /** A pool of one event loop. Both methods may be called on any thread. */
    interface Member {
        /** Called when the pool gets the place for which it has waited. */
        void onPlace();

        /** Called when another pool waits. This pool then closes an idle connection, or ends an HTTP/2 connection. */
        void onDemand();
    }

    /**
     * A pool that waits for a place.
     *
     * @param held number of places that the pool held when it began to wait
     * @param limit limit of places that applies to the waiting call
     * @param yieldClaimed whether another pool is already closing an HTTP/2 connection, to release its place to the
     *     waiting pool
     * @param announced whether the other pools were asked for a place after this pool became the first of the queue
     */
    record Waiter(Member member, int held, int limit, AtomicBoolean yieldClaimed, AtomicBoolean announced) {
        Waiter(Member member, int held, int limit) {
            this(member, held, limit, new AtomicBoolean(), new AtomicBoolean());
        }
    }

    private final AtomicInteger places = new AtomicInteger();
    private final Queue<Waiter> waiting = new ConcurrentLinkedQueue<>();
    private final Set<Member> members = ConcurrentHashMap.newKeySet();

    void join(Member member) {
        members.add(member);
    }

    /** Removes a pool that has no places and does not wait. Returns true if no pool is left. */
    boolean leave(Member member) {
        members.remove(member);
        return members.isEmpty();
    }

    /** The number of places in use. */
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

    /** Releases places. They go to waiting pools first. */
    void release(int count) {
        places.addAndGet(-count);
        serve();
    }

    /** Waits for a place. Asks the other pools for one if none is free. */
    void await(Waiter waiter) {
        waiting.add(waiter);
        serve();
        if (!waiter.announced().get() && waiting.contains(waiter)) {
            announce(waiter);
        }
    }

    /** Asks the other pools for a place. */
    private void announce(Waiter waiter) {
        for (Member member : members) {
            if (member != waiter.member()) {
                member.onDemand();
            }
        }
    }

    /** Ends a wait. Returns false if the place was granted already: then {@link Member#onPlace} follows. */
    boolean withdraw(Waiter waiter) {
        boolean removed = waiting.remove(waiter);
        if (removed) {
            // The next waiting pool may have a higher limit.
            serve();
        }
        return removed;
    }

    /** Returns true if a pool waits for a place. */
    boolean isAwaited() {
        return !waiting.isEmpty();
    }

    /**
     * Returns true if a pool ({@code asking}, with {@code held} places) should yield a free place to the first other
     * waiting pool. This is the case if the waiting pool has at least two places fewer. It is also the case if the
     * waiting pool has no place, and the limit is lower than the number of pools.
     *
     * @param held places of the asking pool
     */
    boolean shouldYield(Member asking, int held) {
        Waiter first = firstOther(asking);
        return first != null && shouldYield(first, held);
    }

    private boolean shouldYield(Waiter first, int held) {
        return first.held() + 1 < held || (first.held() == 0 && first.limit() < members.size());
    }

    /** Returns true if another pool waits for a place. */
    boolean isAwaitedByOther(Member asking) {
        return firstOther(asking) != null;
    }

    private @Nullable Waiter firstOther(Member asking) {
        Waiter first = waiting.peek();
        if (first == null || first.member() != asking) {
            return first;
        }
        for (Waiter each : waiting) {
            if (each.member() != asking) {
                return each;
            }
        }
        return null;
    }

    /**
     * Returns true if the asking pool must end an HTTP/2 connection for the first other pool in the queue. Returns true
     * only once for each wait.
     *
     * @param held places of the asking pool
     */
    boolean claimYield(Member asking, int held) {
        Waiter first = firstOther(asking);
        return first != null && shouldYield(first, held) && first.yieldClaimed().compareAndSet(false, true);
    }

    /**
     * Grants free places to waiting pools, in their order. Then asks the other pools again for a place for the first
     * pool that still waits. An earlier request for this pool may have been in vain, because the released places went
     * to pools that had waited longer.
     */
    private void serve() {
        Waiter first;
        while ((first = waiting.peek()) != null && takeBelow(first.limit())) {
            Waiter granted = waiting.poll();
            if (granted == null) {
                // Another thread has served the pool. The next iteration finds pools that began to wait meanwhile.
                places.decrementAndGet();
            } else {
                granted.member().onPlace();
            }
        }
        if (first != null && first.announced().compareAndSet(false, true)) {
            announce(first);
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
