package io.millrace.proxy.observe;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Logs the first of each kind of fault with its stack trace, and of its repetitions one line in a quiet period that says
 * how many there were: a dead disk or a hostile client cannot flood the program's log.
 *
 * <p>A fault's kind is the text it is reported with, so the text carries no addresses, paths of requests or counts. The
 * number of kinds is bounded; what is beyond shares one entry. Thread-safe.
 */
public final class FaultLog {
    /** More kinds than the product has; beyond that a caller puts variable text into the kind. */
    static final int MAX_KINDS = 256;

    static final String OTHER_KIND = "other faults";

    private final Logger logger;
    private final long quietNanos;
    private final LongSupplier nanoTime;
    private final ConcurrentHashMap<String, Entry> entries = new ConcurrentHashMap<>();
    private final LongAdder total = new LongAdder();

    private static final class Entry {
        final AtomicLong loggedAtNanos;
        final LongAdder unlogged = new LongAdder();

        Entry(long nowNanos) {
            loggedAtNanos = new AtomicLong(nowNanos);
        }
    }

    /**
     * A log that repeats itself at most once in a quiet period for each kind.
     *
     * @param logger where the lines go, at level WARN
     * @param quietNanos the shortest time between two lines of one kind
     * @param nanoTime the clock, as {@link System#nanoTime}
     */
    public FaultLog(Logger logger, long quietNanos, LongSupplier nanoTime) {
        this.logger = logger;
        this.quietNanos = quietNanos;
        this.nanoTime = nanoTime;
    }

    /**
     * Reports one fault.
     *
     * @param kind a fixed text that says what failed
     * @param detail what distinguishes this one: shown when the line is written, null when there is nothing to add
     * @param cause the exception, or null
     */
    public void report(String kind, @Nullable String detail, @Nullable Throwable cause) {
        tell(kind, () -> detail, cause);
    }

    /**
     * As {@link #report(String, String, Throwable)}, for what a client can bring about as often as it likes: the detail is asked for only
     * when a line is due.
     */
    public void reportSparing(String kind, Supplier<String> detail) {
        tell(kind, detail, null);
    }

    private void tell(String kind, Supplier<@Nullable String> detail, @Nullable Throwable cause) {
        total.increment();
        long now = nanoTime.getAsLong();
        Entry entry = entries.get(kind);
        if (entry == null) {
            String key = entries.size() < MAX_KINDS ? kind : OTHER_KIND;
            entry = entries.putIfAbsent(key, new Entry(now));
        }
        if (entry == null) {
            logger.warn("{}{}", kind, suffix(detail.get()), cause);
            return;
        }
        entry.unlogged.increment();
        long loggedAt = entry.loggedAtNanos.get();
        if (now - loggedAt >= quietNanos && entry.loggedAtNanos.compareAndSet(loggedAt, now)) {
            long repetitions = entry.unlogged.sumThenReset();
            logger.warn(
                    "{}{} ({} times since it was last logged){}",
                    kind,
                    suffix(detail.get()),
                    repetitions,
                    because(cause));
        }
    }

    /** Reports one fault of which the exception says it all. */
    public void report(String kind, Throwable cause) {
        report(kind, null, cause);
    }

    /** The number of faults reported, repetitions included. */
    public long total() {
        return total.sum();
    }

    private static String suffix(@Nullable String detail) {
        return detail == null ? "" : ": " + detail;
    }

    private static String because(@Nullable Throwable cause) {
        return cause == null ? "" : ": " + cause;
    }
}
