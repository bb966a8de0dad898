package io.millrace.bench.store;

import io.millrace.store.index.Location;
import io.millrace.store.index.MappedIndex;
import io.millrace.store.io.SystemFileIo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
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

/** Benchmark of random lookups in the mapped index. Confined to one thread. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class IndexLookupBenchmark {
    /** Number of entries. The result in docs/performance.md is for ten million. */
    @Param("100000")
    public int entries;

    private Path directory = Path.of("");

    @SuppressWarnings("NullAway.Init") // by the setup
    private MappedIndex index;

    private long next;

    /** Fills the index. */
    @Setup(Level.Trial)
    public void fill() throws IOException {
        directory = Files.createTempDirectory("millrace-index");
        index = MappedIndex.create(new SystemFileIo(), directory, new UUID(1, 2), 4096, entries);
        for (long n = 0; n < entries; n++) {
            index.put(high(n), low(n), Location.pack((int) (n & 0xFFF), 64 + (n >>> 12 << 6), 512, 1), 0);
        }
        index.finishRebuild();
    }

    /** Deletes the index file. */
    @TearDown(Level.Trial)
    public void delete() throws IOException {
        Machine.delete(directory);
    }

    private static long high(long n) {
        return mix(n ^ 0x5555_5555_5555_5555L);
    }

    private static long low(long n) {
        return mix(n);
    }

    private static long mix(long value) {
        long z = (value + 0x9E37_79B9_7F4A_7C15L) * 0xBF58_476D_1CE4_E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D0_49BB_1331_11EBL;
        return z ^ (z >>> 31);
    }

    private long pick() {
        next = next * 6_364_136_223_846_793_005L + 1_442_695_040_888_963_407L;
        return (next >>> 33) % entries;
    }

    /** Looks up an existing entry. */
    @Benchmark
    public long hit() {
        long n = pick();
        return index.find(high(n), low(n));
    }

    /** Looks up a missing entry. */
    @Benchmark
    public long miss() {
        long n = pick() + entries;
        return index.find(high(n), low(n));
    }
}
