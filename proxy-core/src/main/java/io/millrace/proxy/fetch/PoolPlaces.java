package io.millrace.proxy.fetch;

import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One pool's share of the process-wide limit of connections to its origin ({@link ConnectionTotal}). A place is the
 * right to have one connection.
 *
 * <p>Every connection of the pool occupies a place. After a connection is closed, the pool keeps the place until
 * {@link #releaseUnused}, so that a retried call can use it.
 *
 * <p>Confined to the pool's event loop, except for the methods of {@link ConnectionTotal.Member}.
 */
final class PoolPlaces implements ConnectionTotal.Member {
    private static final Logger log = LoggerFactory.getLogger(PoolPlaces.class);

    private final OriginPool pool;
    private final ConnectionTotals totals;
    /** The connections of all event loops; null for tunnels, which are not counted. */
    private final @Nullable ConnectionTotal total;
    /** Number of places of the pool: at least one for each connection. */
    private int held;
    /** The wait for a place; null for none. */
    private ConnectionTotal.@Nullable Waiter awaited;

    PoolPlaces(OriginPool pool, ConnectionTotals totals, boolean tunnel) {
        this.pool = pool;
        this.totals = totals;
        total = tunnel ? null : totals.join(pool.origin(), this);
    }

    /**
     * Takes a place for one more connection: the kept place of a closed connection, or a free place. Returns false if
     * there is none.
     */
    boolean take(FetchSettings settings) {
        ConnectionTotal all = total;
        if (all == null || held > pool.connections()) {
            return true;
        }
        if (!all.tryAcquire(settings.connectionsTotalMax())) {
            return false;
        }
        held++;
        return true;
    }

    /** Releases the places of closed connections, and ends the wait for a place if no call of the pool waits. */
    void releaseUnused() {
        ConnectionTotal all = total;
        if (all == null) {
            return;
        }
        if (!pool.hasWaiting()) {
            withdraw();
        }
        int free = held - pool.connections();
        if (free > 0) {
            held -= free;
            all.release(free);
        }
    }

    /**
     * Passes the places of closed connections to another event loop's pool, if that pool waits and has too few places.
     */
    void passUnusedToOthers() {
        if (shouldYield()) {
            withdraw();
            releaseUnused();
        }
    }

    /** Begins to wait for a place, for the first waiting call. */
    void await(int limit) {
        ConnectionTotal all = total;
        if (all == null || (awaited != null && awaited.limit() == limit)) {
            return;
        }
        withdraw();
        if (awaited == null) {
            ConnectionTotal.Waiter wait = new ConnectionTotal.Waiter(this, held, limit);
            awaited = wait;
            all.await(wait);
        }
    }

    /** Ends the wait, unless a place has already been granted. */
    void withdraw() {
        ConnectionTotal.Waiter wait = awaited;
        if (wait != null && total != null && total.withdraw(wait)) {
            awaited = null;
        }
    }

    /** Returns true if this pool should yield its next free place to another event loop. */
    boolean shouldYield() {
        return total != null && total.shouldYield(this, held);
    }

    /** Returns true if a pool waits for a place. */
    boolean isAwaited() {
        return total != null && total.isAwaited();
    }

    /** Returns true if a pool of another event loop waits for a place. */
    boolean isAwaitedByOther() {
        return total != null && total.isAwaitedByOther(this);
    }

    /** Returns true if there are more connections than the limit permits, because the limit was lowered. */
    boolean isOver(FetchSettings settings) {
        int limit = settings.connectionsTotalMax();
        return total != null && limit > 0 && total.places() > limit;
    }

    /** The number of places that all event loops have taken; 0 for tunnels. */
    int placesOfAllLoops() {
        return total == null ? 0 : total.places();
    }

    /**
     * Returns true if this pool should close an HTTP/2 connection for a waiting pool. Returns true only once for each
     * wait.
     */
    boolean claimYield() {
        return total != null && total.claimYield(this, held);
    }

    /** Returns true while this pool waits for a place. */
    boolean isWaiting() {
        return awaited != null;
    }

    /** Called when the pool is removed. The pool then has no connections and does not wait. */
    void leave() {
        if (total != null) {
            totals.leave(pool.origin(), this);
        }
    }

    @Override
    public void onPlace() {
        try {
            pool.eventLoop().execute(this::granted);
        } catch (RejectedExecutionException e) {
            log.debug(
                    "{}: a connection place is released for other event loops, because this event loop has ended",
                    pool.origin());
            if (total != null) {
                total.release(1);
            }
        }
    }

    private void granted() {
        awaited = null;
        held++;
        pool.onPlace();
    }

    @Override
    public void onDemand() {
        try {
            pool.eventLoop().execute(pool::yieldPlace);
        } catch (RejectedExecutionException e) {
            log.debug(
                    "{}: no idle connection can be closed for another event loop, because this event loop has ended",
                    pool.origin());
        }
    }
}
