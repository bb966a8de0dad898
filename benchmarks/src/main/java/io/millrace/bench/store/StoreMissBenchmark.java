package io.millrace.bench.store;

import io.millrace.store.DiskAdmission;
import io.millrace.store.StoreConfig;
import io.millrace.store.VolumeConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Benchmark of storing a new object of 1 KiB in RAM and on disk, as after a miss. RAM and volume are full, so each
 * object replaces others. The allocated bytes include allocations of the volume's thread and the housekeeping thread.
 * Confined to one thread.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class StoreMissBenchmark {
    private static final int LENGTH = 1024;
    private static final long RAM_BYTES = 64L << 20;
    private static final long VOLUME_BYTES = 256L << 20;
    /** Number of objects that fill RAM and the volume. */
    private static final int FILLING = 300_000;

    private Path directory = Path.of("");

    @SuppressWarnings("NullAway.Init") // by the setup
    private BenchStore bench;

    private long next;

    /** Creates the store and fills it. */
    @Setup(Level.Trial)
    public void fill() throws IOException {
        directory = Files.createTempDirectory("millrace-miss");
        bench = new BenchStore(StoreConfig.builder()
                .ramBytes(RAM_BYTES)
                .diskAdmission(DiskAdmission.ALWAYS)
                .inventoryDelayNanos(-1)
                .volumes(List.of(new VolumeConfig(directory, VOLUME_BYTES))));
        while (next < FILLING) {
            store();
        }
    }

    /** Closes the store and deletes its files. */
    @TearDown(Level.Trial)
    public void delete() throws IOException {
        bench.close();
        Machine.delete(directory);
    }

    /** Stores one new object. Waits while the volume's queue is full. */
    @Benchmark
    public long store() {
        bench.put(next, LENGTH);
        return next++;
    }
}
