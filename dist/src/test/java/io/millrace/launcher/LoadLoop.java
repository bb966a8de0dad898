package io.millrace.launcher;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Threads that open a new connection for every request until they are closed. Thread-safe. */
final class LoadLoop implements AutoCloseable {
    /** Pause of a thread between two requests. Leaves processor time to the tested processes. */
    private static final long PAUSE_NANOS = 1_000_000;

    private final Map<CannedClient.Outcome, AtomicLong> outcomes = new ConcurrentHashMap<>();
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean closed;

    LoadLoop(CannedClient client, int clients) {
        for (CannedClient.Outcome outcome : CannedClient.Outcome.values()) {
            outcomes.put(outcome, new AtomicLong());
        }
        for (int i = 0; i < clients; i++) {
            Thread thread = new Thread(
                    () -> {
                        while (!closed) {
                            outcomes.get(client.attempt("/")).incrementAndGet();
                            LockSupport.parkNanos(PAUSE_NANOS);
                        }
                    },
                    "load-" + i);
            threads.add(thread);
            thread.start();
        }
    }

    long count(CannedClient.Outcome outcome) {
        return outcomes.get(outcome).get();
    }

    Map<CannedClient.Outcome, Long> counts() {
        Map<CannedClient.Outcome, Long> counts = new EnumMap<>(CannedClient.Outcome.class);
        outcomes.forEach((outcome, count) -> counts.put(outcome, count.get()));
        return counts;
    }

    @Override
    public void close() {
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
