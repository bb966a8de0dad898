package io.millrace.bench.store;

import io.millrace.store.StoreConfig;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import java.io.IOException;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Benchmark of {@code CacheStore.get} for objects in RAM with bodies of about 500 bytes. The time includes the release
 * of the object. The keys are computed beforehand. Requires a heap of 3 GiB, and as much direct memory. Confined to one
 * thread.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class RamHitBenchmark {
    private static final int REQUESTS = 1 << 22;
    private static final double SKEW = 0.99;

    /** Number of objects. The result in docs/performance.md is for a million. */
    @Param("50000")
    public int objects;

    /** Distribution of the requests over the objects. */
    @Param({"zipf", "uniform"})
    public String popularity = "zipf";

    @SuppressWarnings("NullAway.Init") // by the setup
    private BenchStore bench;

    private final StoreKey[] requests = new StoreKey[REQUESTS];
    private int next;

    /** Stores the objects and draws the requests. */
    @Setup(Level.Trial)
    public void fill() throws IOException {
        bench = new BenchStore(StoreConfig.builder().ramBytes(1300L * objects));
        SplittableRandom random = new SplittableRandom(42);
        StoreKey[] keys = new StoreKey[objects];
        for (int i = 0; i < objects; i++) {
            bench.put(i, 300 + random.nextInt(400));
            keys[i] = bench.key(i);
        }
        double[] cumulative = new double[objects];
        double sum = 0;
        for (int i = 0; i < objects; i++) {
            sum += "zipf".equals(popularity) ? 1 / Math.pow(i + 1, SKEW) : 1;
            cumulative[i] = sum;
        }
        for (int i = 0; i < REQUESTS; i++) {
            int at = Arrays.binarySearch(cumulative, random.nextDouble() * sum);
            int rank = Math.min(objects - 1, at < 0 ? -at - 1 : at);
            // Maps ranks to objects so that objects of adjacent ranks are not adjacent in memory.
            requests[i] = keys[(int) (rank * 0x9E37_79B1L % objects)];
        }
    }

    /** Closes the store. */
    @TearDown(Level.Trial)
    public void close() throws IOException {
        bench.close();
    }

    /** Looks up one object and releases it. */
    @Benchmark
    public long hit() {
        @Nullable StoredObject<PlainHead> object = bench.store().get(requests[next++ & (REQUESTS - 1)]);
        if (object == null) {
            return 0;
        }
        long number = object.head().number();
        object.release();
        return number;
    }
}
