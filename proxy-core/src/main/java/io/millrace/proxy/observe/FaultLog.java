package io.millrace.proxy.observe;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Logs faults at a limited rate. The first fault of each kind is logged with its stack trace. Later faults of the
 * kind are counted, and reported by one line per quiet period. So a failed disk or a hostile client cannot flood
 * the program log.
 *
 * <p>The kind of a fault is a fixed text, without addresses, request paths or counts. The number of kinds is
 * limited; all further kinds share one entry. Thread-safe.
 */
public final class FaultLog {
    /**
     * Limit of kinds. The product has fewer; only a caller that by mistake puts variable text into the kind reaches
     * the limit.
     */
    static final int MAX_KINDS = 256;

    static final String OTHER_KIND = "other faults";

    private final Logger logger;
    private final long quietNanos;
    private final LongSupplier nanoTime;
    private final ConcurrentHashMap<String, Entry> entries = new ConcurrentHashMap<>();
    private final LongAdder total = new LongAdder();

    /** The state of one kind of fault. */
    private static final class Entry {
        final AtomicLong loggedAtNanos;
        /** Number of faults since the last line. */
        final LongAdder unlogged = new LongAdder();

        Entry(long nowNanos) {
            loggedAtNanos = new AtomicLong(nowNanos);
        }
    }

    /**
     * Creates a log that writes at most one line per kind and quiet period.
     *
     * @param logger receives the lines, at level WARN
     * @param quietNanos shortest time between two lines of one kind
     * @param nanoTime the clock, like {@link System#nanoTime}
     */
    public FaultLog(Logger logger, long quietNanos, LongSupplier nanoTime) {
        this.logger = logger;
        this.quietNanos = quietNanos;
        this.nanoTime = nanoTime;
    }

    /**
     * Reports one fault.
     *
     * @param kind a fixed text that names the failed operation
     * @param detail data of this fault, included if the line is written; null for none
     * @param cause the exception, or null
     */
    public void report(String kind, @Nullable String detail, @Nullable Throwable cause) {
        write(kind, () -> detail, cause);
    }

    /**
     * Reports a fault that may occur often, for example because clients can cause it at any rate. Computes the detail
     * only if a line is written, to save CPU time.
     */
    public void reportFrequent(String kind, Supplier<String> detail) {
        write(kind, detail, null);
    }

    private void write(String kind, Supplier<@Nullable String> detail, @Nullable Throwable cause) {
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
                    causeSuffix(cause));
        }
    }

    /** Reports one fault that the exception describes completely. */
    public void report(String kind, Throwable cause) {
        report(kind, null, cause);
    }

    /** The number of reported faults, including repetitions. */
    public long total() {
        return total.sum();
    }

    private static String suffix(@Nullable String detail) {
        return detail == null ? "" : ": " + detail;
    }

    private static String causeSuffix(@Nullable Throwable cause) {
        return cause == null ? "" : ": " + cause;
    }
}
