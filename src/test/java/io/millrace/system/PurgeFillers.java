package io.millrace.system;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Clients that request random objects of a {@link PurgeModel} until they are closed, also while a worker ends. */
final class PurgeFillers implements AutoCloseable {
    /** Pause between two requests of one client. Leaves processor time to the tested processes. */
    private static final long PAUSE_NANOS = 500_000;

    private static final Duration MORE_WITHIN = Duration.ofSeconds(30);

    private final List<Thread> threads = new ArrayList<>();
    private final AtomicInteger answers = new AtomicInteger();
    private final Queue<Throwable> problems = new ConcurrentLinkedQueue<>();
    private volatile boolean closed;

    PurgeFillers(int port, PurgeModel model, int clients, Random random) {
        for (int i = 0; i < clients; i++) {
            Random own = new Random(random.nextLong());
            Thread thread = new Thread(() -> run(port, model, own), "filler-" + i);
            thread.setDaemon(true);
            threads.add(thread);
            thread.start();
        }
    }

    private void run(int port, PurgeModel model, Random random) {
        try (Client client = new Client(port)) {
            while (!closed) {
                try {
                    model.get(random.nextInt(model.objects()), client::get);
                    answers.incrementAndGet();
                } catch (IOException e) {
                    // A connection ends with its worker.
                    client.disconnect();
                }
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        } catch (RuntimeException | Error e) {
            problems.add(e);
        }
    }

    /** Waits until this many further requests were answered. */
    void awaitMore(int count) {
        int enough = answers.get() + count;
        await(count + " more answers")
                .atMost(MORE_WITHIN)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> answers.get() >= enough || !problems.isEmpty());
    }

    /** Ends the clients. Throws the first problem that was no failure of a connection. */
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
        Throwable problem = problems.peek();
        if (problem != null) {
            throw new AssertionError("a client failed", problem);
        }
    }

    /** A client that connects again after each failure. Confined to one thread. */
    static final class Client implements AutoCloseable {
        private final int port;
        private @Nullable RawClient connected;

        Client(int port) {
            this.port = port;
        }

        /** Sends a GET for an object of the model, with the host of the object. */
        RawResponse get(int number) throws IOException {
            RawClient client = connected;
            if (client == null) {
                client = RawClient.connect(port);
                connected = client;
            }
            client.send(
                    "GET " + PurgeModel.path(number) + " HTTP/1.1\r\nHost: " + PurgeModel.host(number) + "\r\n\r\n");
            RawResponse response = client.response();
            if (response.head().listContains("Connection", "close")) {
                disconnect();
            }
            return response;
        }

        @Override
        public void close() {
            disconnect();
        }

        private void disconnect() {
            RawClient client = connected;
            connected = null;
            try {
                if (client != null) {
                    client.close();
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
