package io.millrace.system;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;

/** PURGE requests on kept connections, at a constant rate or as fast as they are answered. */
final class PurgeLoad {
    private static final int FAILURES_MAX = 20;

    private final int port;
    private final IntFunction<String> texts;
    private final long periodNanos;
    private final long[] answerNanos;
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicInteger answered = new AtomicInteger();
    private final Queue<String> failures = new ConcurrentLinkedQueue<>();
    private final List<Thread> threads = new ArrayList<>();
    private final long beganNanos = System.nanoTime();
    private volatile long endedNanos;

    /**
     * Starts the requests.
     *
     * @param perSecond rate of the requests; 0 for no pause between them
     * @param texts returns the bytes of the request with a number, from 0 on
     */
    PurgeLoad(int port, int connections, int count, int perSecond, IntFunction<String> texts) {
        this.port = port;
        this.texts = texts;
        periodNanos = perSecond == 0 ? 0 : 1_000_000_000L / perSecond;
        answerNanos = new long[count];
        for (int i = 0; i < connections; i++) {
            Thread thread = new Thread(this::run, "purge-" + i);
            thread.setDaemon(true);
            threads.add(thread);
            thread.start();
        }
    }

    private void run() {
        try (RawClient client = RawClient.connect(port)) {
            for (int number = next.getAndIncrement();
                    number < answerNanos.length && failures.size() < FAILURES_MAX;
                    number = next.getAndIncrement()) {
                long dueNanos = beganNanos + number * periodNanos;
                while (periodNanos > 0 && System.nanoTime() - dueNanos < 0) {
                    LockSupport.parkNanos(dueNanos - System.nanoTime());
                }
                long sentNanos = System.nanoTime();
                RawResponse response = client.send(texts.apply(number)).response();
                answerNanos[number] = System.nanoTime() - sentNanos;
                if (response.status() == 200 || response.status() == 404) {
                    answered.incrementAndGet();
                } else {
                    failures.add(texts.apply(number) + response);
                }
            }
        } catch (IOException | RuntimeException e) {
            failures.add(e.toString());
        }
    }

    int answered() {
        return answered.get();
    }

    /** Waits for the last answer. */
    void join() throws InterruptedException {
        for (Thread thread : threads) {
            thread.join();
        }
        endedNanos = System.nanoTime();
    }

    double seconds() {
        return (endedNanos - beganNanos) / 1e9;
    }

    List<String> failures() {
        return List.copyOf(failures);
    }

    @Override
    public String toString() {
        long[] sorted = answerNanos.clone();
        Arrays.sort(sorted);
        return String.format(
                "%d purges in %.1f s, answered within %.2f ms (median), %.2f ms (p99), %.1f ms (longest)",
                answered.get(),
                seconds(),
                sorted[sorted.length / 2] / 1e6,
                sorted[sorted.length * 99 / 100] / 1e6,
                sorted[sorted.length - 1] / 1e6);
    }
}
