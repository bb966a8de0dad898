package io.millrace.bench.caching;

import io.millrace.bench.StoredResponses;
import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.storing.Storability;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/**
 * Benchmark of the head of a miss: whether the origin's response is stored, and its stored head. Confined to one
 * thread.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class StorableHeadBenchmark {
    private final RequestHead request = StoredResponses.browserRequest();
    private final ResponseHead response = StoredResponses.responseHead();
    private long stamp;

    /** Decides about one response and builds its stored head. */
    @Benchmark
    public StoredHead store() {
        long nowMillis = StoredResponses.STORED_MILLIS;
        if (Storability.of(request, response, nowMillis, CacheSettings.DEFAULTS) instanceof Storability.NotStorable) {
            throw new IllegalStateException("the response is not storable");
        }
        return StoredHead.of(
                request, response, nowMillis, nowMillis, CacheSettings.DEFAULTS, ++stamp, request.target(), null);
    }
}
