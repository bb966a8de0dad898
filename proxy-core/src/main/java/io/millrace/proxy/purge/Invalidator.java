package io.millrace.proxy.purge;

import io.millrace.proxy.caching.Invalidations;
import io.millrace.proxy.purge.fleet.FleetPosition;
import io.millrace.proxy.purge.pattern.PatternCost;
import io.millrace.proxy.purge.pattern.PurgedPattern;
import io.millrace.proxy.purge.record.PurgeId;
import io.millrace.store.Journal;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out purges, except hard purges of single URLs, which {@link Purger} carries out. A purge is added to the
 * {@link InvalidationTable}, where it takes effect immediately, and to the store's journal, which restores it after a
 * restart. Each purge has a stamp, which is higher than all earlier stamps. The upper bits of a stamp are epoch
 * milliseconds. So stamps stay ascending even if a journal is lost.
 *
 * <p>Thread-safe.
 */
public final class Invalidator implements Journal.Owner {
    private static final Logger log = LoggerFactory.getLogger(Invalidator.class);

    private final Journal journal;
    private final LongSupplier clockMillis;
    private final LongSupplier undoWindowMillis;
    private final InvalidationTable table = new InvalidationTable();
    /** A random number, so that two workers (proxy processes) use different stamps in the same millisecond. */
    private final long stampOffset;

    private volatile Runnable onPattern = () -> {};

    private Invalidator(Journal journal, LongSupplier clockMillis, LongSupplier undoWindowMillis, long stampOffset) {
        this.journal = journal;
        this.clockMillis = clockMillis;
        this.undoWindowMillis = undoWindowMillis;
        this.stampOffset = stampOffset;
    }

    /**
     * Creates the invalidator of a store, and restores the purges in the store's journal.
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
         * @param entries the purges that were carried out, at least one; wider than requested if a table was full
         * @param failure null if the purge is durable, otherwise the reason why the journal was not written
         */
        void onInvalidated(List<InvalidationEntry> entries, @Nullable IOException failure);
    }

    /** The purges in force, for lookups. */
    public Invalidations invalidations() {
        return table;
    }

    /** Returns the current stamp, for fetches that begin now. */
    public long stamp() {
        return table.stamp();
    }

    /** Returns the stamp at the creation of the journal; 0 for none. A response with a lower stamp counts as purged. */
    public long firstStamp() {
        return table.firstStamp();
    }

    /** Returns the number of purges in force of one kind. */
    public int entries(InvalidationKind kind) {
        return table.entries(kind);
    }

    /**
     * Purges scopes. When this method returns, the purge is in force. The reply is called when it is durable.
     *
     * @param scopes at least one scope; either all are tags or none is a tag
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

    /** Returns the stamp of the last hard purge of each scope; 0 for none. */
    public long[] hardStamps(List<InvalidationScope> scopes) {
        return scopes.stream().mapToLong(table::hardStamp).toArray();
    }

    /** Returns true if the soft purge with the stamp was undone. Only the latest undos are known. */
    public boolean isUndone(long stamp) {
        return table.undos().isUndone(stamp);
    }

    /** Returns true if the soft purge with the stamp can be undone. */
    public boolean isUndoable(long stamp) {
        return stamp >= undoableFrom() && table.undos().isUndoable(stamp);
    }

    /** Returns the end of the undo window of a purge, in epoch milliseconds. */
    public long undoableUntilMillis(long stamp) {
        return (stamp >>> InvalidationTable.STAMP_BITS) + undoWindowMillis.getAsLong();
    }

    /**
     * Undoes a soft purge. Responses that only this purge made stale are fresh again, as before, unless they were
     * validated meanwhile.
     *
     * @param reply called once: with null when the undo is durable, otherwise with the failure
     * @return false, without a change and a reply, if the purge cannot be undone
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
     * Purges by pattern. When this method returns, lookups find no covered response of an earlier fetch.
     *
     * @param delaysSweep whether sweeps must not remove covered responses before {@link #allowSweep}
     * @param reply called once, when the purge is durable
     * @return false, without a change and a reply, if too many purges by pattern are live
     */
    public boolean invalidate(PurgedPattern pattern, boolean delaysSweep, Executor replyOn, Reply reply) {
        InvalidationEntry entry = table.invalidate(pattern, stampOfNow(), undoableFrom(), delaysSweep);
        if (entry == null) {
            return false;
        }
        onPattern.run();
        List<InvalidationEntry> entries = List.of(entry);
        append(entries, replyOn, failure -> reply.onInvalidated(entries, failure));
        return true;
    }

    /** Returns the position in the fleet's stream of purges; null for none. A fleet is a group of nodes. */
    public @Nullable FleetPosition fleetPosition() {
        return table.fleet().position();
    }

    /**
     * Appends this node's position in the fleet's stream of purges to the journal, after the purges up to this
     * position.
     *
     * @param purges local stamps by shared identifier, of purges that may be undone or cancelled
     * @param reply called once: with null when the position is durable, otherwise with the failure
     */
    public void fleetApplied(
            FleetPosition position, Map<String, Long> purges, Executor replyOn, Consumer<@Nullable IOException> reply) {
        append(table.fleet().applied(position, purges), replyOn, reply);
    }

    /** Returns the local stamp of another node's purge by its shared identifier; 0 if it is not known. */
    public long fleetStamp(String sharedId) {
        return table.fleet().stamp(sharedId);
    }

    /** Returns the shared identifier of another node's purge by its local stamp; null if it is not known. */
    public @Nullable String fleetId(long stamp) {
        return table.fleet().sharedId(stamp);
    }

    /** Returns the live purges by pattern, oldest first. */
    public List<PurgedPattern> patterns() {
        return table.patterns().live();
    }

    /**
     * Returns true if the purge by pattern with the stamp is live. Its sweep is not complete, so lookups still
     * compare responses with it.
     */
    public boolean isLive(long stamp) {
        return table.patterns().isLive(stamp);
    }

    /** The measured cost of comparing responses with purges by pattern. */
    public PatternCost patternCost() {
        return table.patternCost();
    }

    /** Returns the live purges by pattern that may be swept now. Omits soft purges that can still be undone. */
    public List<PurgedPattern> sweepable() {
        return table.sweepable(undoableFrom());
    }

    /** Allows sweeps of a purge by pattern that was added with {@code delaysSweep}. No effect for other purges. */
    public void allowSweep(long stamp) {
        if (table.allowSweep(stamp)) {
            onPattern.run();
        }
    }

    /** Retires a purge by pattern whose sweep is complete, and records this in the journal. */
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
     * Cancels a live purge by pattern before its sweep is complete. Covered responses that are still stored can
     * be used again.
     *
     * @param reply called once: with null when the cancellation is durable, otherwise with the failure
     * @return false, without a change and a reply, if the purge is not live
     */
    public boolean cancel(long stamp, Executor replyOn, Consumer<@Nullable IOException> reply) {
        if (!table.cancel(stamp)) {
            return false;
        }
        append(List.of(UndoLog.undone(stamp)), replyOn, reply);
        return true;
    }

    /**
     * Sets the task that runs when a purge by pattern is added or its sweep is allowed, on any thread. Runs the task
     * now if a purge is live.
     */
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
            log.error("the journal of invalidations is damaged: all responses stored so far count as invalidated");
            table.invalidate(InvalidationKind.ALL, false, 0, null, stampOfNow());
        } else if (condition != Journal.Condition.COMPLETE) {
            if (condition == Journal.Condition.MISSING) {
                log.warn("the storage has content but no journal of invalidations: all responses with a stamp count as"
                        + " invalidated");
            }
            // Responses stored from now on have a stamp above 0. So they can be recognized if the journal is lost
            // later.
            table.invalidate(InvalidationKind.JOURNAL_LOST, false, 0, null, stampOfNow());
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
