package io.millrace.store.engine;

import io.millrace.store.StoreKey;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The fills in flight, by key, so that a removal reaches them.
 *
 * <p>Thread-safe.
 */
final class FillRegister {
    /** The fills of each key, mostly one: a chain that only changes inside {@code compute}. */
    private final ConcurrentHashMap<StoreKey, Ticket> fills = new ConcurrentHashMap<>();

    /** One fill's place in the register, from its creation to its end. */
    static final class Ticket {
        private volatile @Nullable Ticket next;
        private volatile boolean invalidated;

        /** Whether its key was removed since the fill began. */
        boolean isInvalidated() {
            return invalidated;
        }
    }

    Ticket begin(StoreKey key) {
        Ticket ticket = new Ticket();
        fills.compute(key, (k, others) -> {
            ticket.next = others;
            return ticket;
        });
        return ticket;
    }

    /** The fill is over. */
    void end(StoreKey key, Ticket ticket) {
        fills.computeIfPresent(key, (k, first) -> {
            if (first.equals(ticket)) {
                return ticket.next;
            }
            for (Ticket before = first; before != null; before = before.next) {
                if (ticket.equals(before.next)) {
                    // The one that leaves keeps its link: whoever stands on it finds on.
                    before.next = ticket.next;
                    break;
                }
            }
            return first;
        });
    }

    /** What fills the key now is for nothing. */
    void invalidate(StoreKey key) {
        for (Ticket ticket = fills.get(key); ticket != null; ticket = ticket.next) {
            ticket.invalidated = true;
        }
    }

    /** Number of keys being filled. */
    int size() {
        return fills.size();
    }
}
