package io.millrace.store.engine.filling;

import io.millrace.store.StoreKey;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The register of the fills of each key. A fill is a representation that is being received, or that is stored in part
 * and in use.
 *
 * <p>Removals and replacements of a key invalidate its fills through this register.
 *
 * <p>Thread-safe.
 */
public final class FillRegister {
    /** The fills of each key, usually one. They form a linked list, which is modified only inside {@code compute}. */
    private final ConcurrentHashMap<StoreKey, Ticket> fills = new ConcurrentHashMap<>();

    /** The register's entry of one representation. It exists as long as the body of the representation is in use. */
    public static final class Ticket {
        private final long objectId;
        /** The next ticket of the same key; null for the last. */
        private volatile @Nullable Ticket next;

        private volatile boolean stored;
        private volatile boolean replaced;
        private volatile boolean invalidated;
        /** True if the fill may complete only while the key's object is unchanged. */
        private volatile boolean conditional;
        /** True if the key's object has changed since the ticket was made conditional. */
        private volatile boolean changed;

        private Ticket(long objectId) {
            this.objectId = objectId;
        }

        /** Returns the id of the representation. */
        long objectId() {
            return objectId;
        }

        /**
         * Marks the representation as stored under its key. If another object replaces it from then on, the ticket
         * becomes invalid.
         */
        public void markStored() {
            stored = true;
        }

        /** Returns true if the representation has been stored under its key. */
        public boolean isStored() {
            return stored;
        }

        /** Returns true if the latest object stored under the key since the start of this fill is not its own. */
        public boolean isReplaced() {
            return replaced;
        }

        /**
         * Makes the fill conditional: it may complete only if the key's present object is not changed until then. Call
         * inside {@code PendingChanges.change}.
         */
        public void expectUnchanged() {
            changed = false;
            conditional = true;
        }

        /** Returns true if the fill is conditional, is not stored, and the key's object has changed. */
        public boolean isOvertaken() {
            return conditional && changed && !stored;
        }

        /**
         * Returns true if no more content may be written. The key was removed, or the stored representation was
         * replaced.
         */
        public boolean isInvalidated() {
            return invalidated || (stored && replaced);
        }
    }

    /** Adds a ticket for a new representation of the key; {@link #end} removes it. */
    public Ticket begin(StoreKey key, long objectId) {
        Ticket ticket = new Ticket(objectId);
        fills.compute(key, (k, others) -> {
            ticket.next = others;
            return ticket;
        });
        return ticket;
    }

    /** Removes the ticket. Called when the body is not in use any more. */
    public void end(StoreKey key, Ticket ticket) {
        fills.computeIfPresent(key, (k, first) -> {
            if (first.equals(ticket)) {
                return ticket.next;
            }
            for (Ticket before = first; before != null; before = before.next) {
                if (ticket.equals(before.next)) {
                    // The removed ticket keeps its link, so that a concurrent traversal can continue.
                    before.next = ticket.next;
                    break;
                }
            }
            return first;
        });
    }

    /** Invalidates all current fills of the key. */
    public void invalidate(StoreKey key) {
        for (Ticket ticket = fills.get(key); ticket != null; ticket = ticket.next) {
            ticket.invalidated = true;
        }
    }

    /** Invalidates the fills that would replace the object of the key. */
    public void invalidateUnstored(StoreKey key) {
        for (Ticket ticket = fills.get(key); ticket != null; ticket = ticket.next) {
            if (!ticket.stored) {
                ticket.invalidated = true;
            }
        }
    }

    /** Marks the other representations of the key as replaced by the representation with this id. */
    public void replace(StoreKey key, long objectId) {
        for (Ticket ticket = fills.get(key); ticket != null; ticket = ticket.next) {
            ticket.replaced = ticket.objectId != objectId;
        }
        changed(key, objectId);
    }

    /** Marks the conditional fills of the key as overtaken, except fills of this representation. */
    public void changed(StoreKey key, long objectId) {
        for (Ticket ticket = fills.get(key); ticket != null; ticket = ticket.next) {
            if (ticket.conditional && ticket.objectId != objectId) {
                ticket.changed = true;
            }
        }
    }

    /**
     * Passes the keys with a ticket to the consumer. These are all keys that have a ticket during the whole call, and
     * possibly other keys.
     */
    public void forEachKey(Consumer<StoreKey> consumer) {
        fills.keySet().forEach(consumer);
    }

    /** Returns the number of keys with a ticket. */
    int size() {
        return fills.size();
    }
}
