package io.millrace.bench.store;

import io.millrace.store.memory.BodyPool;
import io.millrace.store.memory.CountingAllocator;
import io.millrace.store.memory.MemoryBudget;
import io.netty.buffer.ByteBuf;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Benchmark of the allocation of body buffers. It allocates buffers until a limit is reached, and then frees random
 * buffers before each allocation, as a full RAM tier does. It reports the CPU time of the allocating thread for each
 * step of 25,000 bodies.
 *
 * <pre>
 *   java -XX:MaxDirectMemorySize=8g -cp benchmarks.jar io.millrace.bench.store.PoolDriver [MEBIBYTES [LENGTH]]
 * </pre>
 *
 * Without a length, body lengths are log-normal with a median of 8 KB, from 200 B to 1 MiB.
 */
public final class PoolDriver {
    private static final int STEP = 25_000;
    private static final int STEPS = 24;
    private static final int LENGTH_MIN = 200;
    private static final int LENGTH_MAX = 1 << 20;
    private static final double LOG_MEDIAN = 9;
    private static final double LOG_DEVIATION = 1.3;

    private static final ThreadMXBean threads = ManagementFactory.getThreadMXBean();

    private final BodyPool pool;
    private final CountingAllocator allocator;
    private final long bytesMax;
    private final int length;
    private final SplittableRandom random = new SplittableRandom(1);
    private final List<ByteBuf> bodies = new ArrayList<>();
    private long bytes;
    private long spentNanos;
    private long nanosMax;

    private PoolDriver(long bytesMax, int length) {
        this.pool = new BodyPool(null, bytesMax);
        this.allocator = new CountingAllocator(pool, new MemoryBudget(bytesMax), MemoryBudget.Part.FILLING);
        this.bytesMax = bytesMax;
        this.length = length;
    }

    /** Runs the benchmark; see the class for the arguments. */
    public static void main(String[] args) {
        long mebibytes = args.length == 0 ? 2_000 : Long.parseLong(args[0]);
        new PoolDriver(mebibytes << 20, args.length < 2 ? 0 : Integer.parseInt(args[1])).run();
    }

    private void run() {
        for (int step = 0; step < STEPS; step++) {
            spentNanos = 0;
            nanosMax = 0;
            for (int i = 0; i < STEP; i++) {
                add(length == 0 ? randomLength() : length);
            }
            System.out.printf(
                    "%,d bodies, %,d MiB, in regions %,d MiB: %,d ns each, at most %,d us%n",
                    bodies.size(), bytes >> 20, pool.chunkBytes() >> 20, spentNanos / STEP, nanosMax / 1000);
        }
        bodies.forEach(ByteBuf::release);
        pool.close();
    }

    private int randomLength() {
        double randomLength = Math.exp(LOG_MEDIAN + LOG_DEVIATION * random.nextGaussian());
        return (int) Math.max(LENGTH_MIN, Math.min(LENGTH_MAX, randomLength));
    }

    private void add(int wanted) {
        while (bytes + wanted > bytesMax) {
            evict();
        }
        long from = threads.getCurrentThreadCpuTime();
        ByteBuf body = allocator.directBuffer(wanted);
        long nanos = threads.getCurrentThreadCpuTime() - from;
        spentNanos += nanos;
        nanosMax = Math.max(nanosMax, nanos);
        bodies.add(body);
        bytes += wanted;
    }

    private void evict() {
        int at = random.nextInt(bodies.size());
        ByteBuf evicted = bodies.set(at, bodies.get(bodies.size() - 1));
        bodies.remove(bodies.size() - 1);
        bytes -= evicted.capacity();
        evicted.release();
    }
}
