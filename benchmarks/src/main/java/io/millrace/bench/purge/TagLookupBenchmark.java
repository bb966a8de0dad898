package io.millrace.bench.purge;

import io.millrace.proxy.caching.Outdated;
import io.millrace.proxy.http.TargetUri;
import io.millrace.store.StoreKey;
import java.io.IOException;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Benchmark of a hit in RAM whose response is older than many purges of other tags: lookup, purges, freshness. All
 * responses are stored before the first purge. Confined to one thread.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class TagLookupBenchmark {
    private static final int OBJECTS = 20_000;
    private static final int TAGS = 2000;
    private static final int REQUESTS = 1 << 16;

    /** Number of purges by tag. No response has any of the purged tags. */
    @Param({"0", "1000000"})
    public long stamps;

    /** Whether each response has three tags. */
    @Param({"true", "false"})
    public boolean tagged = true;

    @SuppressWarnings("NullAway.Init") // by the setup
    private TaggedStore bench;

    private final StoreKey[] keys = new StoreKey[REQUESTS];
    private final TargetUri[] urls = new TargetUri[REQUESTS];
    private int next;

    /** Stores the responses, purges other tags, and draws the requests. */
    @Setup
    public void fill() throws IOException {
        bench = new TaggedStore(null, OBJECTS, TAGS);
        for (long number = 0; number < OBJECTS; number++) {
            bench.put(number, tagged);
        }
        bench.purgeOtherTags(stamps);
        SplittableRandom random = new SplittableRandom(42);
        for (int i = 0; i < REQUESTS; i++) {
            long number = random.nextLong(OBJECTS);
            keys[i] = bench.key(number);
            urls[i] = TaggedStore.url(number);
        }
    }

    /** Closes the store. */
    @TearDown
    public void close() throws IOException {
        bench.close();
    }

    /** Decides about one response. */
    @Benchmark
    public @Nullable Outdated hit() {
        int at = next++ & (REQUESTS - 1);
        return bench.decide(keys[at], urls[at]);
    }
}
