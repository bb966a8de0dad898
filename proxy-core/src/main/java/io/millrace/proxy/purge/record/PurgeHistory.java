package io.millrace.proxy.purge.record;

import io.millrace.proxy.observe.event.Event;
import io.millrace.proxy.observe.event.EventKind;
import io.millrace.proxy.observe.event.EventSink;
import io.millrace.proxy.purge.fleet.FleetOutbox;
import io.millrace.proxy.purge.fleet.FleetPurge;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The audit records of the latest purges. With a directory, each record is a line of JSON in a log file. Workers (proxy
 * processes) that use the same directory append to the same file. Without a directory, the records are in memory, and
 * a restart loses them. A writer thread appends waiting records to the file in batches, with one fsync per batch.
 *
 * <p>Thread-safe. Adding a record blocks only after {@link #close}. Reading blocks.
 */
public final class PurgeHistory implements AutoCloseable {
    /** Limit of records that wait to be written; further records are lost and counted. */
    public static final int WAITING_MAX = 1 << 16;

    /** Default number of purges whose records are kept. */
    public static final int PURGES_KEPT_DEFAULT = 10_000;

    /** Limit of records that are written with one fsync. */
    private static final int BATCH_MAX = 1024;
    /** Time without work after which the writer thread ends. */
    private static final long IDLE_SECONDS = 10;

    private static final long CLOSE_SECONDS = 5;

    private final Logger log;
    private final PurgeLog lines;
    private final @Nullable ThreadPoolExecutor writer;
    private final IntSupplier purgesKept;
    private final LongSupplier clockMillis;
    private final PurgeId removalIds;
    private final PurgeId dryRunIds;
    private final RemovalTimes removals;
    private final ConcurrentLinkedQueue<Waiting> waiting = new ConcurrentLinkedQueue<>();
    private final AtomicInteger waitingCount = new AtomicInteger();
    private final AtomicBoolean scheduled = new AtomicBoolean();
    private final AtomicLong lost = new AtomicLong();
    private volatile EventSink events = EventSink.NONE;
    private volatile @Nullable Consumer<PurgeRecord> observer;
    private volatile FleetOutbox fleet = FleetOutbox.none();
    /** True if the last write failed. Only the first of consecutive failures is logged. */
    private final AtomicBoolean failing = new AtomicBoolean();

    /** True if a record was lost since the queue was last empty. Only the first lost record is logged. */
    private final AtomicBoolean overflowing = new AtomicBoolean();

    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Waiting(byte[] line, Executor replyOn, Runnable reply) {}

    private PurgeHistory(
            PurgeLog lines,
            @Nullable ThreadPoolExecutor writer,
            IntSupplier purgesKept,
            LongSupplier clockMillis,
            RemovalTimes removals,
            Logger log) {
        this.log = log;
        this.removals = removals;
        this.lines = lines;
        this.writer = writer;
        this.purgesKept = purgesKept;
        this.clockMillis = clockMillis;
        this.removalIds = new PurgeId(PurgeId.REMOVAL, clockMillis);
        this.dryRunIds = new PurgeId(PurgeId.DRY_RUN, clockMillis);
    }

    /**
     * Creates a history in a directory, or in memory if the directory is null.
     *
     * @param purgesKept returns the number of purges whose records are kept; older records may remain in the file
     */
    public static PurgeHistory in(@Nullable Path directory, IntSupplier purgesKept, LongSupplier clockMillis) {
        return in(directory, purgesKept, clockMillis, LoggerFactory.getLogger(PurgeHistory.class));
    }

    static PurgeHistory in(@Nullable Path directory, IntSupplier purgesKept, LongSupplier clockMillis, Logger log) {
        RemovalTimes removals = RemovalTimes.in(directory, clockMillis);
        return directory == null
                ? new PurgeHistory(new PurgeLogInMemory(purgesKept), null, purgesKept, clockMillis, removals, log)
                : new PurgeHistory(
                        new PurgeLogFile(directory, purgesKept, clockMillis),
                        writer(),
                        purgesKept,
                        clockMillis,
                        removals,
                        log);
    }

    /** Creates a history in memory. */
    public static PurgeHistory inMemory(LongSupplier clockMillis) {
        return in(null, () -> PURGES_KEPT_DEFAULT, clockMillis);
    }

    private static ThreadPoolExecutor writer() {
        ThreadPoolExecutor executor =
                new ThreadPoolExecutor(1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), work -> {
                    Thread thread = new Thread(work, "millrace-purges");
                    thread.setDaemon(true);
                    return thread;
                });
        executor.allowCoreThreadTimeOut(true);
        return executor;
    }

    /** The times of the latest purges of single URLs (removals). */
    public RemovalTimes removals() {
        return removals;
    }

    /** Returns a new identifier for the purge of a single URL (a removal). */
    public String newRemovalId() {
        return removalIds.next();
    }

    /** Returns a new identifier for a dry run. */
    public String newDryRunId() {
        return dryRunIds.next();
    }

    /** Returns the current time in epoch milliseconds. */
    public long nowMillis() {
        return clockMillis.getAsLong();
    }

    /** Number of records lost, because the file could not be written or too many records waited. */
    public long lost() {
        return lost.get();
    }

    /** Sets the receiver of an event for each purge that has not failed. */
    public void events(EventSink sink) {
        events = sink;
    }

    /**
     * Sets the receiver of the record of each purge that has not failed. The receiver is called on any thread, so it
     * must not block.
     */
    public void observer(Consumer<PurgeRecord> to) {
        observer = to;
    }

    /** Adds the record of a purge. {@code reply} runs when the record is durable or lost. */
    public void add(PurgeRecord record, Executor replyOn, Runnable reply) {
        report(record);
        append(PurgeLine.purge(record), replyOn, reply);
    }

    private void report(PurgeRecord record) {
        Consumer<PurgeRecord> to = observer;
        if (to != null && record.state() != PurgeState.FAILED) {
            to.accept(record);
        }
        EventSink sink = events;
        if (sink == EventSink.NONE || record.state() == PurgeState.FAILED) {
            return;
        }
        PurgeClient client = record.client();
        String requester = client.token() != null
                ? "token " + client.token()
                : client.address() != null ? client.address() : client.via();
        String text =
                (record.soft() ? "soft purge" : "purge") + " by " + record.scope() + ", requested by " + requester;
        sink.record(new Event(record.atMillis(), EventKind.PURGE, record.target(), text));
    }

    /**
     * Adds the record of a purge, and queues the purge for the fleet.
     *
     * @param shared the purge for other nodes; null for a purge that is not shared
     * @param reply called once, when the record is durable or lost. Receives null, or the reason why the purge was not
     *     queued for the fleet
     */
    public void add(PurgeRecord record, @Nullable FleetPurge shared, Executor replyOn, FleetOutbox.Reply reply) {
        if (shared == null || !fleet.isActive()) {
            add(record, replyOn, () -> reply.onQueued(null));
        } else {
            add(record, Runnable::run, () -> fleet.add(shared, record.id(), replyOn, reply));
        }
    }

    /** Returns the queue of purges for the fleet. */
    public FleetOutbox fleet() {
        return fleet;
    }

    /** Sets the queue of purges for the fleet. Call before the first purge. */
    public void fleet(FleetOutbox outbox) {
        fleet = outbox;
    }

    /** Adds the record that a purge was undone. */
    public void undone(String id, PurgeClient client, Executor replyOn, Runnable reply) {
        append(PurgeLine.undo(id, nowMillis(), client), replyOn, reply);
    }

    /** Adds the record that a purge was cancelled. */
    public void cancelled(String id, PurgeClient client, Executor replyOn, Runnable reply) {
        append(PurgeLine.cancellation(id, nowMillis(), client), replyOn, reply);
    }

    /** Adds the record of the number and bytes of objects that a purge covers. */
    public void counted(String id, long objects, long bytes) {
        append(PurgeLine.count(id, nowMillis(), objects, bytes), Runnable::run, () -> {});
    }

    private void append(byte[] line, Executor replyOn, Runnable reply) {
        ThreadPoolExecutor thread = writer;
        Waiting one = new Waiting(line, replyOn, reply);
        if (thread == null) {
            write(List.of(one));
        } else if (waitingCount.incrementAndGet() > WAITING_MAX) {
            waitingCount.decrementAndGet();
            lost.incrementAndGet();
            if (overflowing.compareAndSet(false, true)) {
                log.error("{}: too many records of purges wait to be written: limit={}", lines, WAITING_MAX);
            }
            reply(one);
        } else {
            waiting.add(one);
            schedule(thread);
        }
    }

    private void schedule(ThreadPoolExecutor thread) {
        if (!scheduled.compareAndSet(false, true)) {
            return;
        }
        try {
            thread.execute(this::writeWaiting);
        } catch (RejectedExecutionException e) {
            // The history is closed, so this thread writes the record.
            writeWaiting();
        }
    }

    private void writeWaiting() {
        scheduled.set(false);
        List<Waiting> batch = new ArrayList<>();
        for (Waiting one = waiting.poll(); one != null; one = batch.size() < BATCH_MAX ? waiting.poll() : null) {
            batch.add(one);
        }
        if (waitingCount.addAndGet(-batch.size()) == 0) {
            overflowing.set(false);
        }
        if (!batch.isEmpty()) {
            write(batch);
        }
        if (batch.size() == BATCH_MAX && writer != null) {
            schedule(writer);
        }
    }

    private void write(List<Waiting> batch) {
        List<byte[]> all = new ArrayList<>(batch.size());
        for (Waiting one : batch) {
            all.add(one.line());
        }
        try {
            lines.append(all);
            failing.set(false);
        } catch (IOException | RuntimeException e) {
            lost.addAndGet(batch.size());
            if (failing.compareAndSet(false, true)) {
                log.error("{}: records of purges cannot be written; the purges are in force: {}", lines, e.toString());
            }
        }
        for (Waiting one : batch) {
            reply(one);
        }
    }

    private void reply(Waiting one) {
        try {
            one.replyOn().execute(one.reply());
        } catch (RejectedExecutionException e) {
            log.debug("the client of a purge disconnected before the record of the purge was written");
        }
    }

    /**
     * Returns the latest purges, newest first. Blocks.
     *
     * @param before returns only purges older than the purge with this identifier; null for all purges
     * @param count limit of the result
     * @return null if no purge has that identifier
     * @throws IOException if the log cannot be read
     */
    public @Nullable List<PurgeRecord> latest(@Nullable String before, int count) throws IOException {
        int purgesMax = purgesKept.getAsInt();
        PurgePage page = new PurgePage(before, Math.min(count, purgesMax));
        lines.visit(page);
        return page.newestFirst(purgesMax);
    }

    /**
     * Returns the record of the purge with an identifier; null if there is none. Blocks.
     *
     * @throws IOException if the log cannot be read
     */
    public @Nullable PurgeRecord find(String id) throws IOException {
        String member = "\"id\":\"" + id + "\"";
        Map<String, PurgeRecord> records = new HashMap<>();
        lines.visit(line -> {
            if (line.contains(member)) {
                PurgeLine.read(line, records);
            }
        });
        return records.get(id);
    }

    /** Returns the file of the records, or {@code memory}. */
    @Override
    public String toString() {
        return lines.toString();
    }

    /** Writes the waiting records. Blocks for at most 5 s. */
    @Override
    public void close() {
        ThreadPoolExecutor thread = writer;
        if (thread == null) {
            return;
        }
        thread.shutdown();
        try {
            if (!thread.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
                log.warn(
                        "at shutdown, records of purges are not written and may be lost: waiting={}",
                        waitingCount.get());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
