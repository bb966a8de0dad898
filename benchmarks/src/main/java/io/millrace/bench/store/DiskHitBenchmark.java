package io.millrace.bench.store;

import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Benchmark of opening objects of 10 KiB on disk, in a store without RAM tier. The files are in the page cache. The
 * time includes the index lookup, the read, verification, decoding, and the round trip to an I/O thread. Lookups are
 * sent in batches, as by an event loop with many clients. Confined to one thread.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class DiskHitBenchmark {
    private static final int OBJECTS = 20_000;
    private static final int LENGTH = 10 * 1024;
    private static final int BATCH = 256;

    private Path directory = Path.of("");

    @SuppressWarnings("NullAway.Init") // by the setup
    private BenchStore bench;

    private final StoreKey[] keys = new StoreKey[OBJECTS];
    private final AtomicInteger outstanding = new AtomicInteger();
    private final Semaphore answered = new Semaphore(0);
    private int next;

    /** Stores the objects. */
    @Setup(Level.Trial)
    public void fill() throws IOException {
        directory = Files.createTempDirectory("millrace-disk");
        bench = new BenchStore(
                BenchStore.onDisk(directory, 2L * OBJECTS * LENGTH).ioThreads(1));
        for (int i = 0; i < OBJECTS; i++) {
            bench.put(i, LENGTH);
            keys[i] = bench.key(i);
        }
        bench.store().sync();
    }

    /** Closes the store and deletes its files. */
    @TearDown(Level.Trial)
    public void delete() throws IOException {
        bench.close();
        Machine.delete(directory);
    }

    /** Opens a batch of objects and waits for all replies. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public void open() throws InterruptedException {
        outstanding.set(BATCH);
        for (int i = 0; i < BATCH; i++) {
            next = (next + 7919) % OBJECTS;
            bench.store().open(keys[next], Runnable::run, this::answer);
        }
        answered.acquire();
    }

    private void answer(@Nullable StoredObject<PlainHead> object) {
        if (object == null) {
            throw new IllegalStateException("an object is missing");
        }
        object.release();
        if (outstanding.decrementAndGet() == 0) {
            answered.release();
        }
    }
}
