package io.millrace.system;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * An origin that fails and recovers on demand, with one thread for each connection. After each recovery it counts the
 * passed health checks until the first request arrives. Thread-safe; one thread changes the mode.
 */
final class ChaosOrigin implements AutoCloseable {

    /** The handling of requests. */
    enum Mode {
        /** Answers them. */
        OK,
        /** Reads them and does not answer until the mode changes. */
        SILENT,
        /** Resets the connection. */
        RESET,
        /** Answers 503. */
        UNAVAILABLE,
        /** The origin does not listen, and its connections are closed. */
        KILLED
    }

    private static final long MINUTE_SECONDS = 60;

    static final String CHECKED_PATH = "/healthz";

    private final int port;
    private final Map<String, byte[]> bodies;
    /** Requests that all origins together have received. */
    private final AtomicLong asked;

    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private final List<Return> returns = new ArrayList<>();
    private volatile Mode mode = Mode.OK;
    private volatile CountDownLatch modeChanged = new CountDownLatch(1);
    private @Nullable ServerSocket listening;
    private @Nullable Thread acceptor;
    /** The recovery that waits for traffic; null for none. */
    private @Nullable Return awaited;

    /** Requests to all origins at the last passed check or recovery. */
    private long askedBefore;

    private long answers;

    /**
     * A recovery.
     *
     * @param from the mode before
     * @param at time of the recovery
     * @param checks times of passed health checks before the first request; checks are omitted if no origin received a
     *     request in between
     * @param traffic time of the first request; empty before it
     */
    record Return(Mode from, Instant at, List<Instant> checks, List<Instant> traffic) {}

    /** Listens on a port, and uses the same one after each stop. */
    ChaosOrigin(int port, Map<String, byte[]> bodies, AtomicLong asked) throws IOException {
        this.port = port;
        this.bodies = bodies;
        this.asked = asked;
        listen();
    }

    String url() {
        return "http://127.0.0.1:" + port;
    }

    Mode mode() {
        return mode;
    }

    /** Fails or recovers from now on. */
    void become(Mode next) throws IOException {
        if (mode == Mode.KILLED) {
            listen();
        }
        synchronized (returns) {
            awaited = next == Mode.OK ? new Return(mode, Instant.now(), new ArrayList<>(), new ArrayList<>(1)) : null;
            askedBefore = asked.get();
        }
        mode = next;
        modeChanged.countDown();
        modeChanged = new CountDownLatch(1);
        if (next == Mode.KILLED) {
            die();
        }
    }

    /** Returns the recoveries that received traffic, and the last one, if it has received none. */
    List<Return> returns() {
        synchronized (returns) {
            List<Return> all = new ArrayList<>(returns);
            if (awaited != null) {
                all.add(awaited);
            }
            return all;
        }
    }

    long answers() {
        synchronized (returns) {
            return answers;
        }
    }

    private void listen() throws IOException {
        ServerSocket server = new ServerSocket();
        server.setReuseAddress(true);
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1024);
        listening = server;
        Thread thread = new Thread(() -> accept(server), "chaos-origin-" + port);
        thread.setDaemon(true);
        thread.start();
        acceptor = thread;
    }

    private void die() throws IOException {
        if (listening != null) {
            listening.close();
        }
        try {
            if (acceptor != null) {
                // Until its accept has returned the port is still open.
                acceptor.join();
            }
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
        for (Socket socket : sockets) {
            socket.close();
        }
    }

    private void accept(ServerSocket server) {
        while (!server.isClosed()) {
            try {
                Socket socket = server.accept();
                sockets.add(socket);
                Thread thread = new Thread(() -> serve(socket), "chaos-origin-connection");
                thread.setDaemon(true);
                thread.start();
            } catch (IOException e) {
                return;
            }
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            socket.setTcpNoDelay(true);
            Wire wire = new Wire(socket.getInputStream());
            Wire.Head head;
            while ((head = wire.head()) != null
                    && answer(socket, head.startLine().split(" ", -1)[1])) {
                // The next request.
            }
        } catch (IOException e) {
            // The proxy, or the stop of this origin, ends connections at any time.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            sockets.remove(socket);
        }
    }

    private boolean answer(Socket socket, String target) throws IOException, InterruptedException {
        CountDownLatch change = modeChanged;
        if (!target.equals(CHECKED_PATH)) {
            asked.incrementAndGet();
        }
        switch (mode) {
            case OK -> ok(socket, target);
            case SILENT -> {
                // A request received in silent mode is never answered: only later ones count as a recovery.
                if (change.await(MINUTE_SECONDS, TimeUnit.SECONDS)) {
                    return false;
                }
                throw new IOException("silent for " + MINUTE_SECONDS + " s");
            }
            case RESET -> {
                socket.setSoLinger(true, 0);
                return false;
            }
            case UNAVAILABLE ->
                send(socket, "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n", new byte[0]);
            case KILLED -> {
                return false;
            }
        }
        return true;
    }

    private void ok(Socket socket, String target) throws IOException {
        boolean check = target.equals(CHECKED_PATH);
        synchronized (returns) {
            answers += check ? 0 : 1;
            if (awaited != null && check) {
                noteCheck(awaited);
            } else if (awaited != null) {
                awaited.traffic().add(Instant.now());
                returns.add(awaited);
                awaited = null;
            }
        }
        byte[] body = bodies.getOrDefault(target, new byte[0]);
        String caching = target.startsWith("/stored/") ? "max-age=1, stale-if-error=600" : "no-store";
        send(
                socket,
                "HTTP/1.1 200 OK\r\nContent-Length: " + body.length + "\r\nCache-Control: " + caching + "\r\n\r\n",
                body);
    }

    /** While all clients wait for a silent origin there is no traffic that could return. */
    private void noteCheck(Return of) {
        long askedNow = asked.get();
        if (askedNow != askedBefore) {
            of.checks().add(Instant.now());
            askedBefore = askedNow;
        }
    }

    /** In one piece, so that a stop happens before or after it. */
    private static void send(Socket socket, String head, byte[] body) throws IOException {
        ByteArrayOutputStream whole = new ByteArrayOutputStream();
        whole.write(head.getBytes(StandardCharsets.US_ASCII));
        whole.write(body);
        socket.getOutputStream().write(whole.toByteArray());
    }

    @Override
    public void close() throws IOException {
        mode = Mode.KILLED;
        modeChanged.countDown();
        die();
    }
}
