package io.millrace.system;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Clients that request files repeatedly while the worker is killed, most with a new connection per request, some with a
 * kept one. A response is correct, wrong or aborted. An aborted one is permitted only on a connection from before the
 * worker's end, because a worker's connections end with it. Thread-safe.
 */
final class LoadDuringKill implements AutoCloseable {

    private static final int NEW_CONNECTION_CLIENTS = 6;
    private static final int KEEP_ALIVE_CLIENTS = 3;
    /** Pause between two requests of one client. Leaves processor time to the tested processes. */
    private static final long PAUSE_NANOS = 5_000_000;

    private static final int WRONG_MAX = 100;
    private static final int PROBLEMS_SHOWN = 10;

    /** A failed request: whether its kept connection had ended before, and the times of its begin and its failure. */
    private record Broken(String what, boolean between, long connectedAtNanos, long failedAtNanos) {

        boolean isExcusedBy(MillraceProcess.Death death) {
            return connectedAtNanos - death.goneAtNanos() < 0 && failedAtNanos - death.sentAtNanos() > 0;
        }
    }

    private final int port;
    private final List<RealTree.Entry> entries;
    private final List<Thread> threads = new ArrayList<>();
    private final AtomicLong answers = new AtomicLong();
    private final AtomicInteger refused = new AtomicInteger();
    private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
    private final Queue<Broken> broken = new ConcurrentLinkedQueue<>();
    private final Queue<MillraceProcess.Death> deaths = new ConcurrentLinkedQueue<>();
    private int keptClosed;
    private volatile boolean stopping;

    LoadDuringKill(int port, List<RealTree.Entry> entries, Random random) {
        this.port = port;
        this.entries = entries;
        for (int i = 0; i < NEW_CONNECTION_CLIENTS + KEEP_ALIVE_CLIENTS; i++) {
            boolean keepAlive = i >= NEW_CONNECTION_CLIENTS;
            Random own = new Random(random.nextLong());
            Thread thread = new Thread(() -> ask(own, keepAlive), "load-" + i);
            thread.setDaemon(true);
            threads.add(thread);
        }
    }

    void start() {
        threads.forEach(Thread::start);
    }

    /** Reports the end of the worker that served until then. */
    void workerDied(MillraceProcess.Death death) {
        deaths.add(death);
    }

    /** Waits until this many further responses were correct. */
    void awaitMoreAnswers(long count) {
        long enough = answers.get() + count;
        await(count + " more answers")
                .atMost(Duration.ofSeconds(60))
                .until(() -> answers.get() >= enough || wrong.size() >= WRONG_MAX);
    }

    /**
     * Returns, after the end, how many kept connections were closed during their next request without the end of a
     * worker.
     */
    int keptClosed() {
        return keptClosed;
    }

    /** Ends the load; returns the errors. */
    List<String> stop() throws InterruptedException {
        stopping = true;
        for (Thread thread : threads) {
            thread.join();
        }
        List<String> problems = new ArrayList<>(wrong);
        for (Broken failure : broken) {
            if (deaths.stream().anyMatch(failure::isExcusedBy)) {
                continue;
            }
            if (failure.between()) {
                keptClosed++;
            } else {
                problems.add("broken off on a connection that no dead worker had accepted: " + failure.what());
            }
        }
        long excusable = (long) deaths.size() * threads.size();
        if (broken.size() > excusable) {
            problems.add(broken.size() + " requests broke off, with " + threads.size() + " clients and " + deaths.size()
                    + " deaths");
        }
        return problems.stream().distinct().limit(PROBLEMS_SHOWN).toList();
    }

    @Override
    public void close() {
        stopping = true;
    }

    private void ask(Random random, boolean keepAlive) {
        RawClient client = null;
        long connectedAtNanos = 0;
        int answersOnIt = 0;
        while (!stopping && wrong.size() < WRONG_MAX) {
            RealTree.Entry entry = entries.get(random.nextInt(entries.size()));
            boolean connecting = client == null;
            boolean between = false;
            try {
                if (client == null) {
                    connectedAtNanos = System.nanoTime();
                    client = RawClient.connect(port);
                    answersOnIt = 0;
                }
                connecting = false;
                String[] fields = keepAlive ? new String[0] : new String[] {"Connection: close"};
                between = answersOnIt > 0;
                Wire.Head head = client.get(entry.target(), fields).head();
                between = false;
                check(entry, new RawResponse(head, client.body(head).readAllBytes()));
                answersOnIt++;
                if (!keepAlive || head.listContains("Connection", "close")) {
                    client.close();
                    client = null;
                }
                LockSupport.parkNanos(PAUSE_NANOS);
            } catch (IOException e) {
                if (connecting) {
                    refused.incrementAndGet();
                    wrong.add("no connection: " + e);
                } else {
                    String what = entry.target() + ": " + e;
                    broken.add(new Broken(what, between, connectedAtNanos, System.nanoTime()));
                }
                client = closed(client);
            }
        }
        closed(client);
    }

    private void check(RealTree.Entry entry, RawResponse response) throws IOException {
        byte[] expected = Files.readAllBytes(entry.file());
        if (response.status() != 200 || !Arrays.equals(expected, response.body())) {
            wrong.add(entry.target() + " was answered with " + response);
        } else {
            answers.incrementAndGet();
        }
    }

    private static @Nullable RawClient closed(@Nullable RawClient client) {
        if (client != null) {
            try {
                client.close();
            } catch (IOException e) {
                // The connection is already closed.
                return null;
            }
        }
        return null;
    }

    @Override
    public String toString() {
        return answers + " right answers, " + wrong.size() + " wrong, " + refused + " connections refused, "
                + broken.size() + " broken off, " + keptClosed + " kept connections closed between two requests";
    }
}
