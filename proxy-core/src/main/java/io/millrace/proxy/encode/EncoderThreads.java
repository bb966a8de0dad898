package io.millrace.proxy.encode;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * The threads that encode the content of responses. Event loops do not wait for them. They start with the first
 * content and end when they are idle. Each body has at most one task here, so the queue has at most
 * {@link #ENCODERS_MAX} tasks.
 *
 * <p>Thread-safe.
 */
public final class EncoderThreads implements Executor, AutoCloseable {
    /** Limit of encoders of one proxy. Each has up to 4 MiB of memory outside the Java heap. */
    static final int ENCODERS_MAX = 128;

    private static final int THREADS_MAX = 8;
    private static final int IDLE_SECONDS = 10;
    /** A task has at most 256 KiB, which the slowest level encodes in about a second. */
    private static final int CLOSE_SECONDS = 10;

    private final AtomicInteger encoders = new AtomicInteger();
    private final LongAdder nanosWorked = new LongAdder();
    private final ThreadPoolExecutor threads;

    public EncoderThreads() {
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

    /** Returns true if one more encoder or decoder may exist; {@link #ended} must follow. */
    public boolean begin() {
        if (encoders.incrementAndGet() <= ENCODERS_MAX) {
            return true;
        }
        encoders.decrementAndGet();
        return false;
    }

    /** Called when an encoder or decoder was closed. */
    public void ended() {
        encoders.decrementAndGet();
    }

    /** Counts the time of an encoder. */
    void worked(long nanos) {
        nanosWorked.add(nanos);
    }

    /** Returns the time that encoders have worked since the start, in whole seconds. */
    public long secondsWorked() {
        return TimeUnit.NANOSECONDS.toSeconds(nanosWorked.sum());
    }

    /** @throws java.util.concurrent.RejectedExecutionException after {@link #close} */
    @Override
    public void execute(Runnable task) {
        threads.execute(task);
    }

    /**
     * Waits up to {@value #CLOSE_SECONDS} s for the tasks in progress, which release their buffers. The event loops must
     * still run, because tasks end there.
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
