package io.millrace.proxy.purge;

import io.millrace.proxy.caching.Invalidations;
import io.millrace.proxy.purge.pattern.PatternCost;
import io.millrace.proxy.purge.pattern.PurgedPattern;
import io.millrace.proxy.purge.record.PurgeId;
import io.millrace.store.Journal;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Invalidates hosts, prefixes, groups, tags and everything, and single URLs softly. An invalidation is added to the
 * table, where it is in force at once, and to the store's journal, which survives the process. The upper bits of a
 * stamp are the time of day in milliseconds. So a stamp after the loss of a journal is higher than all stamps in that
 * journal.
 *
 * <p>Thread-safe.
 */
public final class Invalidator implements Journal.Owner {
    private static final Logger log = LoggerFactory.getLogger(Invalidator.class);

    private final Journal journal;
    private final LongSupplier clockMillis;
    private final LongSupplier undoWindowMillis;
    private final InvalidationTable table = new InvalidationTable();
    /** Random, so that two workers give different stamps in the same millisecond. */
    private final long stampOffset;

    private volatile Runnable onPattern = () -> {};

    private Invalidator(Journal journal, LongSupplier clockMillis, LongSupplier undoWindowMillis, long stampOffset) {
        this.journal = journal;
        this.clockMillis = clockMillis;
        this.undoWindowMillis = undoWindowMillis;
        this.stampOffset = stampOffset;
    }

    /**
     * Creates the invalidator of a store with the entries of its journal.
     *
     * @param undoWindowMillis time after a soft purge in which it can be undone; 0 for never
     */
    public static Invalidator over(Journal journal, LongSupplier clockMillis, LongSupplier undoWindowMillis) {
        Invalidator invalidator = new Invalidator(journal, clockMillis, undoWindowMillis, PurgeId.randomOffset());
        journal.attach(invalidator);
        return invalidator;
    }

    /** Receives the outcome of an invalidation. */
    @FunctionalInterface
    public interface Reply {
        /**
         * Called once.
         *
         * @param entries the entries, at least one; wider than requested if a table was full
         * @param failure null if the invalidation is durable
         */
        void onInvalidated(List<InvalidationEntry> entries, @Nullable IOException failure);
    }

    /** The invalidations in force. */
    public Invalidations invalidations() {
        return table;
    }

    /** Returns the stamp for requests from now on. */
    public long stamp() {
        return table.stamp();
    }

    /** Returns the stamp with which the journal began; a response with a lower one counts as invalidated. 0 for none. */
    public long firstStamp() {
        return table.firstStamp();
    }

    /** Returns the number of entries in force of a kind. */
    public int entries(InvalidationKind kind) {
        return table.entries(kind);
    }

    /**
     * Invalidates scopes. When this returns, the invalidation is in force. The reply comes when it is durable.
     *
     * @param scopes at least one; either all are tags or none is
     * @param soft whether covered responses may be used again after validation
     */
    public void invalidate(List<InvalidationScope> scopes, boolean soft, Executor replyOn, Reply reply) {
        List<InvalidationEntry> appended = new ArrayList<>(scopes.size() + 1);
        InvalidationEntry key = scopes.get(0).tag() == null ? null : table.announceKey(stampOfNow());
        if (key != null) {
            appended.add(key);
        }
        List<InvalidationEntry> entries = table.invalidate(scopes, soft, stampOfNow(), undoableFrom());
        appended.addAll(entries);
        append(appended, replyOn, failure -> reply.onInvalidated(entries, failure));
    }

    /** Returns the hard stamp in force of each scope; 0 for none. */
    public long[] hardStamps(List<InvalidationScope> scopes) {
        return scopes.stream().mapToLong(table::hardStamp).toArray();
    }

    /** Returns whether the soft purge with a stamp was undone; false also after very many further undos. */
    public boolean isUndone(long stamp) {
        return table.isUndone(stamp);
    }

    /** Returns whether the soft purge with a stamp can be undone. */
    public boolean isUndoable(long stamp) {
        return stamp >= undoableFrom() && table.isUndoable(stamp);
    }

    /** Returns the end of the undo window of a purge, in epoch milliseconds. */
    public long undoableUntilMillis(long stamp) {
        return (stamp >>> InvalidationTable.STAMP_BITS) + undoWindowMillis.getAsLong();
    }

    /**
     * Undoes a soft purge. Responses that only this purge made stale get their previous state, unless they were
     * validated meanwhile.
     *
     * @param reply called once, with null when the undo is durable, else with the failure
     * @return false if the purge cannot be undone; then nothing was changed, and there is no reply
     */
    public boolean undo(long stamp, Executor replyOn, Consumer<@Nullable IOException> reply) {
        if (!isUndoable(stamp) || !table.undo(stamp)) {
            return false;
        }
        append(List.of(UndoLog.undone(stamp)), replyOn, reply);
        return true;
    }

    private void append(List<InvalidationEntry> appended, Executor replyOn, Consumer<@Nullable IOException> reply) {
        AtomicInteger outstanding = new AtomicInteger(appended.size());
        AtomicReference<@Nullable IOException> failure = new AtomicReference<>();
        for (InvalidationEntry entry : appended) {
            journal.append(toJournal(entry), replyOn, problem -> {
                if (problem != null) {
                    failure.compareAndSet(null, problem);
                }
                if (outstanding.decrementAndGet() == 0) {
                    reply.accept(failure.get());
                }
            });
        }
    }

    /**
     * Purges by pattern. When this returns, no covered response whose fetch began before is found current.
     *
     * @param holdsSweep whether no sweep may remove covered responses before {@link #release}
     * @param reply called once, when the purge is durable
     * @return false if too many purges by pattern are live; then nothing was changed, and there is no reply
     */
    public boolean invalidate(PurgedPattern pattern, boolean holdsSweep, Executor replyOn, Reply reply) {
        InvalidationEntry entry = table.invalidate(pattern, stampOfNow(), undoableFrom(), holdsSweep);
        if (entry == null) {
            return false;
        }
        onPattern.run();
        List<InvalidationEntry> entries = List.of(entry);
        append(entries, replyOn, failure -> reply.onInvalidated(entries, failure));
        return true;
    }

    /** Returns the live purges by pattern, in the order of their entry. */
    public List<PurgedPattern> patterns() {
        return table.patterns().live();
    }

    /** Returns whether the purge by pattern with a stamp is live: lookups compare it, and no sweep has completed it. */
    public boolean isLive(long stamp) {
        return table.patterns().isLive(stamp);
    }

    /** The cost of comparisons with purges by pattern. */
    public PatternCost patternCost() {
        return table.patternCost();
    }

    /**
     * Returns the live purges by pattern that a sweep may carry out now. A soft purge is left out as long as it can be
     * undone.
     */
    public List<PurgedPattern> sweepable() {
        return table.sweepable(undoableFrom());
    }

    /** Lets a sweep carry out a purge by pattern that was entered with a hold; else does nothing. */
    public void release(long stamp) {
        if (table.release(stamp)) {
            onPattern.run();
        }
    }

    /** Retires a purge by pattern that covers no stored response any more, durably. */
    public void retire(PurgedPattern pattern) {
        InvalidationEntry retired = table.retire(pattern);
        if (retired == null) {
            return;
        }
        append(List.of(retired), Runnable::run, failure -> {
            if (failure != null) {
                log.debug("a purge by pattern will be swept again after a restart: {}", failure.getMessage());
            }
        });
    }

    /**
     * Ends a live purge by pattern before a sweep has completed it. Covered responses that are still stored can be used
     * again.
     *
     * @param reply called once, with null when the cancellation is durable, else with the failure
     * @return false if the purge is not live; then nothing was changed, and there is no reply
     */
    public boolean cancel(long stamp, Executor replyOn, Consumer<@Nullable IOException> reply) {
        if (!table.cancel(stamp)) {
            return false;
        }
        append(List.of(UndoLog.undone(stamp)), replyOn, reply);
        return true;
    }

    /** Sets the task to run, on any thread, when a purge by pattern is entered or released; runs it now if one is live. */
    public void onPattern(Runnable task) {
        onPattern = task;
        if (!patterns().isEmpty()) {
            task.run();
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
        table.restore(entries, undoableFrom());
        if (!patterns().isEmpty()) {
            onPattern.run();
        }
        if (damaged) {
            log.error("the journal of invalidations is damaged: everything stored so far counts as invalidated");
            table.invalidate(InvalidationKind.ALL, false, 0, null, stampOfNow());
        } else if (condition != Journal.Condition.WHOLE) {
            // Responses stored from now on have a stamp. If the journal is lost later, they differ from responses
            // without
            // one.
            table.invalidate(InvalidationKind.STAMPED, false, 0, null, stampOfNow());
        } else if (log.isDebugEnabled()) {
            log.debug("invalidations in force: {}", table.inForce().size());
        }
    }

    private long stampOfNow() {
        return (clockMillis.getAsLong() << InvalidationTable.STAMP_BITS) + stampOffset;
    }

    /** Returns the lowest stamp of soft purges that can be undone. */
    private long undoableFrom() {
        long window = undoWindowMillis.getAsLong();
        long from = (clockMillis.getAsLong() - window + 1) << InvalidationTable.STAMP_BITS;
        return window == 0 ? Long.MAX_VALUE : Math.max(1, from);
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
