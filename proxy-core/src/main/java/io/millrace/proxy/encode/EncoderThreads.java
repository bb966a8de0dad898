package io.millrace.proxy.encode;

import io.netty.buffer.ByteBufAllocator;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * The threads that encode the content of responses. Event loops do not wait for these threads. The threads start with
 * the first content and end when they are idle. Each body has at most one task here, so the queue has at most
 * {@link #PERMITS_MAX} tasks.
 *
 * <p>Thread-safe.
 */
public final class EncoderThreads implements Executor, AutoCloseable {
    /**
     * Permits for encoders and decoders of one proxy. Each encoder needs one permit for up to 4 MiB of memory outside
     * the Java heap; an encoder of a slow level or with a dictionary needs {@link ContentEncoders#permits more}.
     */
    static final int PERMITS_MAX = 128;

    private static final long PERMIT_BYTES = 4 << 20;

    private static final int THREADS_MAX = 8;
    private static final int IDLE_SECONDS = 10;
    /**
     * Limit of the time that {@link #close} waits. A task has at most 256 KiB, which the slowest level encodes in about
     * a second.
     */
    private static final int CLOSE_SECONDS = 10;

    private final ByteBufAllocator allocator;
    /** Permits that are taken. */
    private final AtomicInteger permitsTaken = new AtomicInteger();

    private final LongAdder nanosWorked = new LongAdder();
    private final ThreadPoolExecutor threads;

    /** @param allocator the buffer pool of the connections; encoded content counts toward its limit */
    public EncoderThreads(ByteBufAllocator allocator) {
        this.allocator = allocator;
        int count = Math.min(THREADS_MAX, Runtime.getRuntime().availableProcessors());
        threads = new ThreadPoolExecutor(
                count,
                count,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                new DefaultThreadFactory("millrace-compression", true));
        threads.allowCoreThreadTimeOut(true);
    }

    /** The buffer pool of the connections. */
    public ByteBufAllocator allocator() {
        return allocator;
    }

    /**
     * Returns the number of permits for an amount of memory: at least one, and at most half of all permits, so that
     * other encoders can work at the same time.
     *
     * @param bytes memory of an encoder or decoder, or of the content that it needs at the same time
     */
    public static int permitsOf(long bytes) {
        return (int) Math.max(1, Math.min(PERMITS_MAX / 2, (bytes + PERMIT_BYTES - 1) / PERMIT_BYTES));
    }

    /**
     * Takes one permit for a decoder. Returns false if there is none. If the result is true, the caller must later call
     * {@link #returnPermit()}.
     */
    public boolean takePermit() {
        return takePermits(1);
    }

    /**
     * Takes permits for an encoder or decoder. Returns false if there are too few. If the result is true, the caller
     * must later call {@link #returnPermits(int)}.
     */
    public boolean takePermits(int wanted) {
        int now;
        do {
            now = permitsTaken.get();
            if (wanted > PERMITS_MAX - now) {
                return false;
            }
        } while (!permitsTaken.compareAndSet(now, now + wanted));
        return true;
    }

    /** Returns the permit of a decoder that was closed. */
    public void returnPermit() {
        returnPermits(1);
    }

    /** Returns the permits of an encoder or decoder that was closed. */
    public void returnPermits(int held) {
        permitsTaken.addAndGet(-held);
    }

    /** Counts the time of an encoder or decoder. */
    void worked(long nanos) {
        nanosWorked.add(nanos);
    }

    /** Returns the time that encoders and decoders have worked since the start. */
    public long nanosWorked() {
        return nanosWorked.sum();
    }

    /**
     * Runs a decoder on one of the threads, and counts its time.
     *
     * @throws java.util.concurrent.RejectedExecutionException after {@link #close}
     */
    public void decode(Runnable decoder) {
        threads.execute(() -> {
            long began = System.nanoTime();
            try {
                decoder.run();
            } finally {
                worked(System.nanoTime() - began);
            }
        });
    }

    /** @throws java.util.concurrent.RejectedExecutionException after {@link #close} */
    @Override
    public void execute(Runnable task) {
        threads.execute(task);
    }

    /**
     * Waits up to {@value #CLOSE_SECONDS} s for the tasks in progress, which release their buffers. The event loops
     * must still run, because tasks end there.
     */
    @Override
    public void close() {
        threads.shutdown();
        try {
            threads.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
