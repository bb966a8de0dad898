package io.millrace.store.engine.filling;

import io.millrace.store.StoreKey;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The representations being filled, and the partial ones that somebody holds, by key: so that a removal or a replacement
 * reaches them.
 *
 * <p>Thread-safe.
 */
public final class FillRegister {
    /** The fills of each key, mostly one: a chain that only changes inside {@code compute}. */
    private final ConcurrentHashMap<StoreKey, Ticket> fills = new ConcurrentHashMap<>();

    /** One representation's place in the register, as long as somebody holds its body. */
    public static final class Ticket {
        private final long objectId;
        private volatile @Nullable Ticket next;
        private volatile boolean settled;
        private volatile boolean replaced;
        private volatile boolean invalidated;

        private Ticket(long objectId) {
            this.objectId = objectId;
        }

        /** Id of the representation. */
        long objectId() {
            return objectId;
        }

        /** It is what its key holds, no longer something that may become so: another object in its place ends it. */
        public void settle() {
            settled = true;
        }

        /** Whether it is what its key holds. */
        public boolean isSettled() {
            return settled;
        }

        /** Whether another object took the key since. */
        public boolean isReplaced() {
            return replaced;
        }

        /** Whether nothing more may be written: its key was removed, or it was settled and is replaced. */
        public boolean isInvalidated() {
            return invalidated || (settled && replaced);
        }
    }

    Ticket begin(StoreKey key, long objectId) {
        Ticket ticket = new Ticket(objectId);
        fills.compute(key, (k, others) -> {
            ticket.next = others;
            return ticket;
        });
        return ticket;
    }

    /** Nobody holds the body any more. */
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
    public void invalidate(StoreKey key) {
        for (Ticket ticket = fills.get(key); ticket != null; ticket = ticket.next) {
            ticket.invalidated = true;
        }
    }

    /** The key holds this representation from now on, and no other one. */
    public void replace(StoreKey key, long objectId) {
        for (Ticket ticket = fills.get(key); ticket != null; ticket = ticket.next) {
            ticket.replaced = ticket.objectId != objectId;
        }
    }

    /** Number of keys with a ticket. */
    int size() {
        return fills.size();
    }
}
