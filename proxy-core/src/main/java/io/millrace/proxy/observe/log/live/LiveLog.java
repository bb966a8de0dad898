package io.millrace.proxy.observe.log.live;

import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.expression.logged.LoggedFacts;
import io.millrace.proxy.observe.MetricFamily;
import io.millrace.proxy.observe.MetricsRegistry;
import io.millrace.proxy.observe.log.LoggedRecord;
import io.millrace.proxy.observe.log.output.RecordFacts;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The live log of a proxy. Viewers (clients of the admin API) receive finished requests that fulfil their filter. The
 * last slow, failed and refused requests are kept in memory. The live log is independent of the access logs.
 *
 * <p>Event loops write records into the rings of {@link LoopLiveLog} and never wait. One thread reads the rings, every
 * 50 ms while there are viewers, else every 500 ms. A full ring or queue loses records, and the viewer receives the
 * number of lost records.
 *
 * <p>Thread-safe. Except {@link #close}, no method blocks for longer than one round of the thread, about 10 ms.
 */
public final class LiveLog implements AutoCloseable {
    /** Limit of viewers; each has a queue of at most 512 KiB. */
    public static final int VIEWERS_MAX = 64;

    /** Limit of bytes of the kept requests of one kind. */
    static final int KEPT_BYTES_MAX = 1 << 20;

    /** A viewer that sends no request for this time is removed. */
    static final long EXPIRY_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** Interval at which the thread reads the rings while there are viewers. */
    private static final long WATCHED_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    /** Interval at which the thread reads the rings while there are no viewers. */
    private static final long IDLE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    /** Time limit of one round of reading. Unread records stay in the rings; a full ring loses new records. */
    private static final long ROUND_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    /** Number of records that are read between two queries of the clock. */
    private static final int CLOCK_RECORDS = 64;

    /** Limit of the wait for the end of the thread. */
    private static final long CLOSE_MILLIS = 1000;

    private static final int ID_BYTES = 16;

    private final LongSupplier nanoTime;
    private final SecureRandom random = new SecureRandom();
    private final ReentrantLock lock = new ReentrantLock();
    private final LongAdder passedCount = new LongAdder();
    private final LongAdder keptCount = new LongAdder();
    private final LongAdder lostCount = new LongAdder();
    private final RecordFacts facts = new RecordFacts();
    private final List<LoopLiveLog> loops = new ArrayList<>();
    private final Map<String, LiveViewer> viewers = new LinkedHashMap<>();
    private final Map<KeptKind, RecordQueue> kept = new EnumMap<>(KeptKind.class);
    private final Thread thread;

    private LiveLogSettings settings;
    /** Number of records that did not fit into the rings, as of the last call of {@link #countDropped}. */
    private long droppedBefore;

    private long roundEndNanos;
    /** Number of records until the next query of the clock. */
    private int untilClock;

    private volatile boolean closed;

    LiveLog(LiveLogSettings settings, LongSupplier nanoTime) {
        this.settings = settings;
        this.nanoTime = nanoTime;
        for (KeptKind kind : KeptKind.values()) {
            kept.put(kind, new RecordQueue(KEPT_BYTES_MAX));
        }
        thread = new Thread(this::run, "millrace-live-log");
        thread.setDaemon(true);
    }

    /** Creates a live log and starts its thread. */
    public static LiveLog start(LiveLogSettings settings) {
        LiveLog started = new LiveLog(settings, System::nanoTime);
        started.thread.start();
        return started;
    }

    /** Creates the live log of one event loop. */
    public LoopLiveLog newLoop() {
        lock.lock();
        try {
            LoopLiveLog loop = new LoopLiveLog(settings);
            loops.add(loop);
            loop.watch(!viewers.isEmpty());
            return loop;
        } finally {
            lock.unlock();
        }
    }

    /** Applies changed settings. Kept requests above a smaller limit are removed. */
    public void apply(LiveLogSettings changed) {
        lock.lock();
        try {
            settings = changed;
            loops.forEach(loop -> loop.apply(changed));
            kept.values().forEach(queue -> queue.trim(changed.keptMax(), 0));
        } finally {
            lock.unlock();
        }
    }

    /** Returns the present settings. */
    public LiveLogSettings settings() {
        lock.lock();
        try {
            return settings;
        } finally {
            lock.unlock();
        }
    }

    /** Adds the counts to the metrics of the proxy. */
    public void bindTo(MetricsRegistry metrics) {
        metrics.supplyGauge(MetricFamily.LIVE_LOG_VIEWERS, this::viewers);
        metrics.supplyCounter(MetricFamily.LIVE_LOG_RECORDS, passedCount::sum, "passed");
        metrics.supplyCounter(MetricFamily.LIVE_LOG_RECORDS, keptCount::sum, "kept");
        metrics.supplyCounter(MetricFamily.LIVE_LOG_RECORDS, lostCount::sum, "lost");
    }

    /** The number of viewers. */
    public int viewers() {
        lock.lock();
        try {
            return viewers.size();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Adds a viewer, which receives requests that finish from now on.
     *
     * @param filter the condition for requests; null for all
     * @return a batch without records, with the identifier of the viewer; null at the limit of viewers
     */
    public @Nullable LiveBatch open(@Nullable Expression<LoggedFacts> filter) {
        lock.lock();
        try {
            if (viewers.size() >= VIEWERS_MAX || closed) {
                return null;
            }
            byte[] id = new byte[ID_BYTES];
            random.nextBytes(id);
            String name = HexFormat.of().formatHex(id);
            LiveViewer viewer = new LiveViewer(name, filter, nanoTime.getAsLong());
            if (viewers.isEmpty()) {
                loops.forEach(loop -> loop.watch(true));
            }
            viewers.put(name, viewer);
            LockSupport.unpark(thread);
            return viewer.emptyBatch();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Returns the next records of a viewer, as soon as there are any.
     *
     * @param confirmed number of the last record that the viewer has received; 0 for none
     * @param waitNanos limit of the wait, after which the batch is empty
     * @return null for an unknown viewer, for example after {@link #EXPIRY_NANOS} without a request
     */
    public @Nullable CompletionStage<LiveBatch> next(String id, long confirmed, long waitNanos) {
        List<Runnable> answers = new ArrayList<>();
        lock.lock();
        try {
            LiveViewer viewer = viewers.get(id);
            if (viewer == null) {
                return null;
            }
            long now = nanoTime.getAsLong();
            viewer.answer(answers);
            CompletionStage<LiveBatch> next = viewer.next(confirmed, now, waitNanos);
            if (viewer.isAnswerable(now)) {
                viewer.answer(answers);
            }
            return next;
        } finally {
            lock.unlock();
            answers.forEach(Runnable::run);
        }
    }

    /**
     * Returns kept requests, newest first. Evaluates the filter on the calling thread.
     *
     * @param filter the condition for requests; null for all
     * @param limit limit of the result
     */
    public List<NumberedRecord> kept(KeptKind kind, @Nullable Expression<LoggedFacts> filter, int limit) {
        List<NumberedRecord> all;
        lock.lock();
        try {
            beginRound();
            loops.forEach(loop -> loop.drainKept(this::keep));
            all = queueOf(kind).newestFirst();
        } finally {
            lock.unlock();
        }
        List<NumberedRecord> found = new ArrayList<>();
        RecordFacts factsOfKept = new RecordFacts();
        for (NumberedRecord record : all) {
            factsOfKept.setRecord(LoggedRecord.ofCopy(record.bytes()));
            if (found.size() < limit && (filter == null || filter.test(factsOfKept))) {
                found.add(record);
            }
        }
        return found;
    }

    private RecordQueue queueOf(KeptKind kind) {
        RecordQueue queue = kept.get(kind);
        if (queue == null) {
            throw new IllegalStateException("no queue of " + kind);
        }
        return queue;
    }

    private void run() {
        while (!closed) {
            LockSupport.parkNanos(this, drainOnce() ? WATCHED_NANOS : IDLE_NANOS);
        }
    }

    /** Reads the rings and answers viewers. Returns true if there are viewers. */
    boolean drainOnce() {
        List<Runnable> answers = new ArrayList<>();
        lock.lock();
        try {
            beginRound();
            for (LoopLiveLog loop : loops) {
                loop.drainKept(this::keep);
                loop.drainWatched(this::pass);
            }
            countDropped();
            long now = nanoTime.getAsLong();
            for (LiveViewer viewer : viewers.values()) {
                if (viewer.isAnswerable(now)) {
                    viewer.answer(answers);
                }
            }
            if (viewers.values().removeIf(viewer -> viewer.isExpired(now, EXPIRY_NANOS)) && viewers.isEmpty()) {
                loops.forEach(loop -> loop.watch(false));
            }
            return !viewers.isEmpty();
        } finally {
            lock.unlock();
            answers.forEach(Runnable::run);
        }
    }

    private void beginRound() {
        roundEndNanos = nanoTime.getAsLong() + ROUND_NANOS;
        untilClock = CLOCK_RECORDS;
    }

    /** Adds the records that did not fit into the rings to the losses of each viewer. */
    private void countDropped() {
        long dropped = 0;
        for (LoopLiveLog loop : loops) {
            dropped += loop.dropped();
        }
        long more = dropped - droppedBefore;
        if (more > 0) {
            droppedBefore = dropped;
            lostCount.add(more);
            viewers.values().forEach(viewer -> viewer.lost(more));
        }
    }

    /** Keeps the record of a slow, failed or refused request. Returns false at the time limit of the round. */
    private boolean keep(LoggedRecord logged) {
        byte[] copy = logged.copy();
        for (KeptKind kind : KeptKind.values()) {
            if (kind.includes(logged.status(), logged.outcome(), logged.firstByteNanos(), settings.slowNanos())) {
                queueOf(kind).add(copy, settings.keptMax(), Long.MAX_VALUE);
            }
        }
        keptCount.increment();
        return pass(logged);
    }

    /** Passes a record to the viewers whose filter accepts it. Returns false at the time limit of the round. */
    private boolean pass(LoggedRecord logged) {
        facts.setRecord(logged);
        byte[] copy = null;
        for (LiveViewer viewer : viewers.values()) {
            if (viewer.wants(facts)) {
                copy = copy == null ? logged.copy() : copy;
                int replaced = viewer.add(copy);
                lostCount.add(replaced);
                passedCount.increment();
            }
        }
        untilClock--;
        if (untilClock > 0) {
            return true;
        }
        untilClock = CLOCK_RECORDS;
        return nanoTime.getAsLong() - roundEndNanos < 0;
    }

    /** Ends the thread and answers the viewers that wait. Blocks for at most 1 s. */
    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(thread);
        boolean interrupted = false;
        try {
            TimeUnit.MILLISECONDS.timedJoin(thread, CLOSE_MILLIS);
        } catch (InterruptedException e) {
            interrupted = true;
        }
        List<Runnable> answers = new ArrayList<>();
        lock.lock();
        try {
            viewers.values().forEach(viewer -> viewer.answer(answers));
            viewers.clear();
            loops.forEach(loop -> loop.watch(false));
        } finally {
            lock.unlock();
        }
        answers.forEach(Runnable::run);
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
