package io.millrace.bench.store;

import io.millrace.store.StoreConfig;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import io.millrace.store.curve.MissRatioCurve;
import java.io.IOException;
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
 * Benchmark of {@code cache.curve}, which estimates the hit ratios of other RAM sizes. It measures a lookup in RAM with
 * and without the estimate, and one simulated request. Popular objects are requested more often than others. Confined
 * to one thread.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class CurveBenchmark {
    private static final int OBJECTS = 50_000;
    private static final int REQUESTS = 1 << 20;
    private static final int BODY_BYTES = 500;
    /** Number of simulated keys, fewer than {@link MissRatioCurve#KEYS_MAX}. */
    private static final int KEYS = 8192;

    private static final byte[] NO_KEY = {};

    /** Whether the hit ratios of other sizes of the RAM tier are estimated. */
    @Param({"false", "true"})
    public boolean curve;

    @SuppressWarnings("NullAway.Init") // by the setup
    private BenchStore bench;

    private final MissRatioCurve simulation = new MissRatioCurve(KEYS / 4L * BODY_BYTES, key -> "bench.example.com");
    private final StoreKey[] requests = new StoreKey[REQUESTS];
    private int next;

    /** Stores the objects and draws the requests. */
    @Setup(Level.Trial)
    public void fill() throws IOException {
        bench = new BenchStore(StoreConfig.builder().ramBytes(2048L * OBJECTS));
        bench.store().simulateSizes(curve ? key -> "bench.example.com" : null);
        StoreKey[] keys = new StoreKey[OBJECTS];
        for (int i = 0; i < OBJECTS; i++) {
            bench.put(i, BODY_BYTES);
            keys[i] = bench.key(i);
        }
        SplittableRandom random = new SplittableRandom(42);
        for (int i = 0; i < REQUESTS; i++) {
            double share = random.nextDouble();
            requests[i] = keys[(int) (share * share * share * OBJECTS)];
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

    /** Simulates one request whose key is sampled, with all sizes and policies, on the calling thread. */
    @Benchmark
    public int simulatedRequest() {
        // The keys are few enough to keep the sample rate at 1.
        long key = requests[next++ & (REQUESTS - 1)].hashLow() & (KEYS - 1);
        simulation.request(key * 0x9E37_79B9_7F4A_7C15L, BODY_BYTES, NO_KEY);
        return simulation.keys();
    }
}
