package io.millrace.proxy.purge.sweep;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.expression.stored.StoredUrl;
import io.millrace.proxy.purge.Invalidator;
import io.millrace.proxy.purge.pattern.PurgedPattern;
import io.millrace.store.CacheStore;
import io.millrace.store.ListResult;
import io.millrace.store.StoreKey;
import io.millrace.store.StoreStatistics;
import io.millrace.store.StoredObject;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One pass over all stored objects, which carries out purges by pattern. It removes covered objects, or marks
 * them as stale.
 *
 * <p>A new object passes from its writer to the pending changes, then to RAM and the volumes. The sweep visits these
 * places in the same order, so that no object escapes. First, the sweep aborts writers that began before the purges.
 * Then it visits the memory, and waits until all changes are on disk. It visits the inventory (the table of stored
 * objects), and then the memory again, because lookups may have promoted objects to RAM meanwhile. Writers that begin
 * later check the purges themselves.
 *
 * <p>A purge is live until its sweep is complete, or until it is undone, cancelled or covered by a purge of everything.
 *
 * <p>Confined to the sweeper's thread.
 */
final class PatternSweep {
    /** Duration of work after which the thread pauses. */
    private static final long WORK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /** Duration of a pause per duration of work. The thread therefore uses less than 30 % of a core. */
    private static final double PAUSE_PER_WORK = 2.5;

    /** Limit of one pause. If the work took long, the thread mostly waited for the disk or the inventory. */
    private static final long PAUSE_NANOS_MAX = TimeUnit.MILLISECONDS.toNanos(250);

    /** Limit of the wait for an answer of the store. */
    private static final long ANSWER_SECONDS = 60;

    private final CacheStore<StoredHead> store;
    private final Invalidator invalidator;
    private final List<PurgedPattern> patterns;
    private final List<PurgedPattern> recent;
    private final LongAdder removed;
    private final LongAdder marked;
    private @Nullable String obstacle;
    private boolean hasAbortedWriters;
    private long workedFrom = System.nanoTime();

    /**
     * Creates a sweep.
     *
     * @param recent the purges for which no sweep has yet aborted the writers that began before the purge
     * @param removed counts removed objects
     * @param marked counts objects that were marked as stale
     */
    PatternSweep(
            CacheStore<StoredHead> store,
            Invalidator invalidator,
            List<PurgedPattern> patterns,
            List<PurgedPattern> recent,
            LongAdder removed,
            LongAdder marked) {
        this.store = store;
        this.invalidator = invalidator;
        this.patterns = patterns;
        this.recent = recent;
        this.removed = removed;
        this.marked = marked;
    }

    /** The reason why the sweep is incomplete; null for none. */
    @Nullable
    String obstacle() {
        return obstacle;
    }

    /** Returns true if the writers that began before the recent purges were aborted. */
    boolean hasAbortedWriters() {
        return hasAbortedWriters;
    }

    /**
     * Runs the sweep. Returns true if it is complete, also after a restart: no object that a hard purge covers is
     * stored any more. Objects that only a soft purge covers stay stored, and are marked as stale.
     */
    boolean run() throws IOException, InterruptedException {
        if (!volumesAreOnline()) {
            return false;
        }
        sweepMemory(recent);
        hasAbortedWriters = obstacle == null;
        store.sync();
        boolean hasVolumes = !store.statistics().volumes().isEmpty();
        if (hasVolumes) {
            sweepInventory();
            sweepMemory(List.of());
            store.sync();
        }
        return obstacle == null && volumesAreOnline();
    }

    /** Returns true if all volumes are online. An offline volume may return with covered objects. */
    private boolean volumesAreOnline() {
        for (StoreStatistics.Volume volume : store.statistics().volumes()) {
            if (volume.state() != StoreStatistics.State.ONLINE) {
                obstacle = volume.path() + " is not online";
                return false;
            }
        }
        return true;
    }

    /**
     * Visits the objects in memory.
     *
     * @param aborting the purges whose earlier writers are aborted
     */
    private void sweepMemory(List<PurgedPattern> aborting) {
        store.visitMemory((keyBytes, isBeingWritten) -> {
            if (Thread.currentThread().isInterrupted()) {
                obstacle = "the sweeper is closed";
                return;
            }
            StoredUrl url = StoredUrl.ofKey(keyBytes);
            if (isBeingWritten && couldCover(aborting, url)) {
                store.abortWriters(store.key(keyBytes));
            }
            if (couldCover(patterns, url)) {
                StoreKey key = store.key(keyBytes);
                StoredObject<StoredHead> object = store.get(key);
                if (object != null) {
                    handle(key, object);
                }
            }
            pause();
        });
    }

    private static boolean couldCover(List<PurgedPattern> patterns, StoredUrl url) {
        for (PurgedPattern pattern : patterns) {
            if (pattern.couldCover(url)) {
                return true;
            }
        }
        return false;
    }

    private void sweepInventory() throws InterruptedException {
        String after = null;
        do {
            CandidatePage page = new CandidatePage(store, patterns);
            BlockingQueue<ListResult> answer = new ArrayBlockingQueue<>(1);
            store.list(after, page, Runnable::run, answer::add);
            ListResult result = answer.poll(ANSWER_SECONDS, TimeUnit.SECONDS);
            // The inventory must be complete at every page, not only at the end: an entry that it still lacks may
            // belong to a page that was visited before.
            if (result == null || result.obstacle() != null || !result.isWhole()) {
                obstacle = result == null || result.obstacle() == null
                        ? "the inventory is not complete"
                        : result.obstacle();
                return;
            }
            for (StoreKey key : page.candidates()) {
                open(key);
                pause();
            }
            after = result.next();
            pause();
        } while (after != null && obstacle == null && isAnyLive());
    }

    /** Returns true if a purge of this sweep is still live. Otherwise the sweep can end. */
    private boolean isAnyLive() {
        return patterns.stream().anyMatch(pattern -> invalidator.isLive(pattern.stamp()));
    }

    private void open(StoreKey key) throws InterruptedException {
        BlockingQueue<Opened> answer = new ArrayBlockingQueue<>(1);
        store.open(key, Runnable::run, object -> answer.add(new Opened(object)));
        Opened opened = answer.poll(ANSWER_SECONDS, TimeUnit.SECONDS);
        if (opened == null) {
            obstacle = "the store does not answer";
        } else if (opened.object() != null) {
            handle(key, opened.object());
        } else if (store.contains(key)) {
            obstacle = "an object could not be opened";
        }
    }

    /** The answer of the store; a null object if the key has none. */
    private record Opened(@Nullable StoredObject<StoredHead> object) {}

    /** Removes or marks an object if a live purge covers it. Takes ownership of the reference. */
    private void handle(StoreKey key, StoredObject<StoredHead> object) {
        try {
            StoredHead head = object.head();
            StoredHead stale = head;
            StoredUrl url = StoredUrl.ofKey(key.bytes());
            for (PurgedPattern pattern : patterns) {
                if (pattern.covers(url, head, object.length()) && invalidator.isLive(pattern.stamp())) {
                    if (!pattern.isSoft()) {
                        store.discard(object);
                        removed.increment();
                        return;
                    }
                    stale = stale.withSoftPurge(pattern.millis());
                }
            }
            if (!stale.equals(head)) {
                store.update(object, stale);
                marked.increment();
            }
        } finally {
            object.release();
        }
    }

    /** Pauses in proportion to the work since the last pause. */
    private void pause() {
        long pauseNanos = pauseNanos(System.nanoTime() - workedFrom);
        if (pauseNanos > 0) {
            LockSupport.parkNanos(pauseNanos);
            workedFrom = System.nanoTime();
        }
    }

    /** Returns the pause after a duration of work, in nanoseconds. Returns 0 if no pause is due yet. */
    static long pauseNanos(long workedNanos) {
        return workedNanos <= WORK_NANOS ? 0 : Math.min(PAUSE_NANOS_MAX, (long) (workedNanos * PAUSE_PER_WORK));
    }
}
