package io.millrace.proxy.purge.pattern;

import io.millrace.proxy.caching.Outdated;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.http.TargetUri;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** Compares stored responses with purges by pattern, and times about one in 16 comparisons. Thread-safe. */
public final class PatternCost {
    /** One of this number of comparisons, chosen at random, is measured. */
    private static final int MEASURED = 16;
    /** The moving average gives a new measurement the weight 1 / {@value}. */
    private static final int WEIGHT = 8;

    private final LongAdder compared = new LongAdder();
    private volatile long averageNanos;

    /** See {@link PurgedPatterns#find}. */
    public @Nullable Outdated find(PurgedPatterns patterns, TargetUri url, StoredHead head, long bodyBytes) {
        compared.increment();
        if (ThreadLocalRandom.current().nextInt(MEASURED) != 0) {
            return patterns.find(url, head, bodyBytes);
        }
        long from = System.nanoTime();
        Outdated found = patterns.find(url, head, bodyBytes);
        long taken = System.nanoTime() - from;
        long before = averageNanos;
        averageNanos = before == 0 ? taken : before + (taken - before) / WEIGHT;
        return found;
    }

    /** Returns the number of lookups that compared a response with at least one purge. */
    public long compared() {
        return compared.sum();
    }

    /** Returns the moving average of the time of a comparison. */
    public long averageNanos() {
        return averageNanos;
    }
}
