package io.millrace.bench.caching;

import io.millrace.bench.StoredResponses;
import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.reuse.Reuse;
import io.millrace.proxy.http.RequestHead;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/**
 * Benchmark of the freshness decision of a hit: whether a stored response may answer a request now. Confined to one
 * thread.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class ReuseBenchmark {
    private final RequestHead request = StoredResponses.browserRequest();
    private final StoredHead stored = StoredResponses.storedHead();
    private long nowMillis = StoredResponses.STORED_MILLIS;

    /** Decides about a fresh response. The clock alternates between two times, so that the result cannot be cached. */
    @Benchmark
    public Reuse freshHit() {
        nowMillis = nowMillis == StoredResponses.STORED_MILLIS ? nowMillis + 1000 : StoredResponses.STORED_MILLIS;
        return Reuse.of(request, stored, nowMillis, CacheSettings.DEFAULTS);
    }
}
