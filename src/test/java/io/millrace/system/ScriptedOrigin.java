package io.millrace.system;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * An origin on loopback that answers each path with a script and records its requests. It can be stopped, and started
 * again on the same port. Thread-safe: one thread per connection, so that a script may wait.
 */
final class ScriptedOrigin implements BeforeAllCallback, AfterAllCallback {

    /** The response to a path. */
    @FunctionalInterface
    interface Script {
        void answer(OriginExchange exchange) throws IOException, InterruptedException;
    }

    private final Map<String, Script> scripts = new ConcurrentHashMap<>();
    private final Map<String, AtomicInteger> numbers = new ConcurrentHashMap<>();
    private final Queue<OriginRequest> requests = new ConcurrentLinkedQueue<>();
    private final Queue<String> malformed = new ConcurrentLinkedQueue<>();
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private final AtomicInteger accepted = new AtomicInteger();
    private volatile @Nullable ServerSocket server;
    private @Nullable Thread acceptor;
    private volatile int port;

    @Override
    public void beforeAll(ExtensionContext context) {
        start();
    }

    @Override
    public void afterAll(ExtensionContext context) {
        stop();
    }

    /** Listens, on its previous port if there is one. */
    void start() {
        try {
            ServerSocket listening = new ServerSocket();
            listening.setReuseAddress(true);
            listening.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1024);
            port = listening.getLocalPort();
            server = listening;
            Thread accepting = new Thread(() -> accept(listening), "origin-accept-" + port);
            accepting.setDaemon(true);
            accepting.start();
            acceptor = accepting;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Closes the listening socket and all connections. */
    void stop() {
        try {
            ServerSocket listening = server;
            Thread accepting = acceptor;
            if (listening != null && accepting != null) {
                listening.close();
                // The kernel keeps the socket listening until the thread in accept has left it.
                accepting.join();
            }
            for (Socket socket : open) {
                socket.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    void on(String path, Script script) {
        scripts.put(path, script);
    }

    /** Answers a path with 200 and these field lines. */
    void serves(String path, String body, String... fieldLines) {
        on(path, exchange -> exchange.answer(200, body, fieldLines));
    }

    String url() {
        return "http://127.0.0.1:" + port;
    }

    int port() {
        return port;
    }

    List<OriginRequest> requests() {
        return List.copyOf(requests);
    }

    List<OriginRequest> requests(String path) {
        return requests.stream().filter(request -> request.path().equals(path)).toList();
    }

    int count(String path) {
        return requests(path).size();
    }

    int connectionsAccepted() {
        return accepted.get();
    }

    /** Returns received bytes that were no HTTP/1.1 request of unambiguous length. */
    List<String> malformed() {
        return List.copyOf(malformed);
    }

    private void accept(ServerSocket listening) {
        while (!listening.isClosed()) {
            try {
                Socket socket = listening.accept();
                accepted.incrementAndGet();
                open.add(socket);
                Thread connection = new Thread(() -> serve(socket), "origin-connection");
                connection.setDaemon(true);
                connection.start();
            } catch (IOException e) {
                return;
            }
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            socket.setTcpNoDelay(true);
            Wire wire = new Wire(socket.getInputStream());
            boolean more = true;
            while (more) {
                more = serveOne(wire, socket);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            if (!socket.isClosed() && !String.valueOf(e.getMessage()).startsWith("Connection reset")) {
                malformed.add(String.valueOf(e.getMessage()));
            }
        } finally {
            open.remove(socket);
        }
    }

    private boolean serveOne(Wire wire, Socket socket) throws IOException, InterruptedException {
        Wire.Head head = wire.head();
        if (head == null) {
            return false;
        }
        if (!head.startLine().matches("[!-~]+ [!-~]+ HTTP/1\\.[01]")) {
            throw new IOException("not a request line: " + head.startLine());
        }
        if (head.listContains("Expect", "100-continue")) {
            OutputStream out = socket.getOutputStream();
            out.write("HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        }
        byte[] body = wire.body(head, Wire.ofRequest(head)).readAllBytes();
        OriginRequest request = new OriginRequest(head, body);
        requests.add(request);
        int number = numbers.computeIfAbsent(request.path(), path -> new AtomicInteger())
                .incrementAndGet();
        OriginExchange exchange = new OriginExchange(request, number, socket);
        Script script = scripts.get(request.path());
        if (script == null) {
            exchange.answer(404, "no script for " + request.target(), "Cache-Control: no-store");
        } else {
            script.answer(exchange);
        }
        return !exchange.isClosed() && !head.listContains("Connection", "close");
    }
}
