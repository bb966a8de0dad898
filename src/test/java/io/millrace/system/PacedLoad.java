package io.millrace.system;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongFunction;

/** Requests at a constant rate over kept connections; latency counts from the time when a request was due. */
final class PacedLoad implements AutoCloseable {
    private final long beganNanos = System.nanoTime();
    private final AtomicLong next = new AtomicLong();
    private final Queue<long[]> answers = new ConcurrentLinkedQueue<>();
    private final Queue<String> failures = new ConcurrentLinkedQueue<>();
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean closed;

    /**
     * @param paths returns the path for the number of a request
     */
    PacedLoad(int port, int perSecond, int connections, LongFunction<String> paths) {
        for (int i = 0; i < connections; i++) {
            Thread thread = new Thread(() -> run(port, TimeUnit.SECONDS.toNanos(1) / perSecond, paths), "paced-" + i);
            threads.add(thread);
            thread.start();
        }
    }

    private void run(int port, long periodNanos, LongFunction<String> paths) {
        RawClient client = null;
        while (!closed) {
            long number = next.getAndIncrement();
            long dueNanos = beganNanos + number * periodNanos;
            while (System.nanoTime() - dueNanos < 0) {
                LockSupport.parkNanos(dueNanos - System.nanoTime());
            }
            try {
                client = client == null ? RawClient.connect(port) : client;
                Wire.Head head = client.get(paths.apply(number)).head();
                client.body(head).readAllBytes();
                answers.add(new long[] {dueNanos - beganNanos, System.nanoTime() - dueNanos});
                if (head.joined("Connection").contains("close")) {
                    client.close();
                    client = null;
                }
            } catch (IOException | RuntimeException e) {
                failures.add(paths.apply(number) + ": " + e);
                client = null;
            }
        }
    }

    double seconds() {
        return (System.nanoTime() - beganNanos) / 1e9;
    }

    List<String> failures() {
        return List.copyOf(failures);
    }

    /**
     * Returns the time within which 99 of 100 requests were answered, of those that were due between two seconds, in
     * ms.
     */
    double p99(double from, double to) {
        List<Long> took = new ArrayList<>();
        for (long[] answer : answers) {
            if (answer[0] >= from * 1e9 && answer[0] < to * 1e9) {
                took.add(answer[1]);
            }
        }
        Collections.sort(took);
        return took.isEmpty() ? 0 : took.get(took.size() * 99 / 100) / 1e6;
    }

    @Override
    public void close() {
        stop();
    }

    /** Sends no more requests, and waits for the responses. */
    void stop() {
        closed = true;
        for (Thread thread : threads) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }
}
