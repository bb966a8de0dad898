package io.millrace.proxy.purge;

import io.millrace.proxy.caching.Invalidations;
import io.millrace.store.Journal;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Invalidates hosts, prefixes, groups, tags and everything, and URLs softly: enters it in the table, where it counts at once, and in the store's
 * journal, which makes it outlive the process. Stamps are no lower than the time of day, counted so finely that no sequence of them
 * gets ahead of it: one given after a journal was lost is higher than all that were in it.
 *
 * <p>Thread-safe.
 */
public final class Invalidator implements Journal.Owner {
    private static final Logger log = LoggerFactory.getLogger(Invalidator.class);

    private final Journal journal;
    private final LongSupplier clockMillis;
    private final InvalidationTable table = new InvalidationTable();

    private Invalidator(Journal journal, LongSupplier clockMillis) {
        this.journal = journal;
        this.clockMillis = clockMillis;
    }

    /** The one of a store, with what its journal has in force. */
    public static Invalidator over(Journal journal, LongSupplier clockMillis) {
        Invalidator invalidator = new Invalidator(journal, clockMillis);
        journal.attach(invalidator);
        return invalidator;
    }

    /** Receives the outcome of an invalidation. */
    @FunctionalInterface
    public interface Reply {
        /**
         * Told once.
         *
         * @param entries what was invalidated, at least one: more than was asked for where a table was full
         * @param failure null when it outlives the process
         */
        void onInvalidated(List<InvalidationEntry> entries, @Nullable IOException failure);
    }

    /** What is in force. */
    public Invalidations invalidations() {
        return table;
    }

    /** The stamp for what is asked for from now on. */
    public long stamp() {
        return table.stamp();
    }

    /** Entries in force of a kind. */
    public int entries(InvalidationKind kind) {
        return table.entries(kind);
    }

    /**
     * Invalidates. When this returns nothing that was asked for before is found current; the reply comes when that survives a
     * crash.
     *
     * @param scopes at least one; all of tags, or none
     * @param soft whether what is covered may be used again once it is validated
     */
    public void invalidate(List<InvalidationScope> scopes, boolean soft, Executor replyOn, Reply reply) {
        List<InvalidationEntry> entries = new ArrayList<>(scopes.size());
        List<InvalidationEntry> appended = new ArrayList<>(scopes.size() + 1);
        InvalidationEntry key = scopes.get(0).tag() == null ? null : table.announceKey(stampOfNow());
        if (key != null) {
            appended.add(key);
        }
        for (InvalidationScope scope : scopes) {
            entries.add(table.invalidate(scope, soft, stampOfNow()));
        }
        appended.addAll(entries);
        AtomicInteger outstanding = new AtomicInteger(appended.size());
        AtomicReference<@Nullable IOException> failure = new AtomicReference<>();
        for (InvalidationEntry entry : appended) {
            journal.append(toJournal(entry), replyOn, problem -> {
                if (problem != null) {
                    failure.compareAndSet(null, problem);
                }
                if (outstanding.decrementAndGet() == 0) {
                    reply.onInvalidated(entries, failure.get());
                }
            });
        }
    }

    @Override
    public void recovered(List<Journal.Entry> found, Journal.Condition condition) {
        boolean damaged = condition == Journal.Condition.DAMAGED;
        List<InvalidationEntry> entries = new ArrayList<>(found.size());
        for (Journal.Entry entry : found) {
            try {
                entries.add(InvalidationEntry.read(entry.stamp(), entry.content()));
            } catch (IllegalArgumentException e) {
                log.error("the journal has an entry that cannot be read: {}", e.getMessage());
                damaged = true;
            }
        }
        table.restore(entries);
        if (damaged) {
            log.error("the journal of invalidations is damaged: everything stored so far counts as invalidated");
            table.invalidate(InvalidationKind.ALL, false, 0, null, stampOfNow());
        } else if (condition != Journal.Condition.WHOLE) {
            // What is stored from now on has a stamp: should the journal be lost, it can be told from what never had
            // one.
            table.invalidate(InvalidationKind.STAMPED, false, 0, null, stampOfNow());
        } else {
            log.debug("invalidations in force: {}", table.inForce().size());
        }
    }

    private long stampOfNow() {
        return clockMillis.getAsLong() << InvalidationTable.STAMP_BITS;
    }

    @Override
    public List<Journal.Entry> inForce() {
        List<Journal.Entry> all = new ArrayList<>();
        for (InvalidationEntry entry : table.inForce()) {
            all.add(toJournal(entry));
        }
        return all;
    }

    private static Journal.Entry toJournal(InvalidationEntry entry) {
        return new Journal.Entry(entry.stamp(), entry.bytes());
    }
}
