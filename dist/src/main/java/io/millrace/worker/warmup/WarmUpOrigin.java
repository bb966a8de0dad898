package io.millrace.worker.warmup;

import io.millrace.proxy.http.HttpDates;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The HTTP origin server of the warm-up, at a loopback address. The path of a request selects the response.
 * Thread-safe.
 *
 * <p>A path has the format {@code /KIND/SIZE/NAME}, where KIND is a value of {@link Kind} in lower case. Each
 * connection has its own thread.
 */
final class WarmUpOrigin implements AutoCloseable {
    /** The kind of a response. */
    enum Kind {
        /** A response with a freshness lifetime of one hour. */
        STORED,
        /** A response like STORED with {@code Vary: Accept-Encoding}. */
        VARIED,
        /** A response like STORED, but chunked. */
        CHUNKED,
        /** A response that must not be stored. */
        PRIVATE,
        /** A response like PRIVATE, after which the origin closes the connection. */
        CLOSING,
        /** A stored response that is validated at each request, and is unchanged (304). */
        VALIDATED,
        /** A stored response that is validated at each request, and has changed (200). */
        CHANGED,
        /** A 404 response. */
        MISSING,
        /** A connection that is closed without a response. */
        CUT;

        final String word = name().toLowerCase(Locale.ROOT);
    }

    /** Limit of the body of a response, in bytes. */
    static final int SIZE_MAX = 1 << 20;

    private static final int BACKLOG = 128;
    private static final int CHUNK = 16 << 10;
    private static final byte[] CONTENT = new byte[SIZE_MAX];

    private final ServerSocket listening;
    private final Set<Socket> connections = ConcurrentHashMap.newKeySet();
    private final Set<Thread> threads = ConcurrentHashMap.newKeySet();
    private final AtomicLong requests = new AtomicLong();

    private WarmUpOrigin(ServerSocket listening) {
        this.listening = listening;
    }

    static WarmUpOrigin start() throws IOException {
        WarmUpOrigin origin = new WarmUpOrigin(new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress()));
        origin.run("warm-up-origin", origin::accept);
        return origin;
    }

    String url() {
        return "http://127.0.0.1:" + listening.getLocalPort();
    }

    long requests() {
        return requests.get();
    }

    private void run(String name, Runnable task) {
        Thread thread = new Thread(
                () -> {
                    try {
                        task.run();
                    } finally {
                        threads.remove(Thread.currentThread());
                    }
                },
                name);
        thread.setDaemon(true);
        threads.add(thread);
        thread.start();
    }

    private void accept() {
        try {
            while (true) {
                Socket connection = listening.accept();
                connections.add(connection);
                if (listening.isClosed()) {
                    closeConnections();
                }
                run("warm-up-origin-connection", () -> serve(connection));
            }
        } catch (IOException e) {
            // The listening socket was closed.
            closeConnections();
        }
    }

    private void serve(Socket connection) {
        try (connection) {
            connection.setTcpNoDelay(true);
            InputStream in = new BufferedInputStream(connection.getInputStream());
            OutputStream out = connection.getOutputStream();
            boolean open = true;
            while (open) {
                open = answer(in, out);
            }
        } catch (IOException e) {
            // The proxy or the warm-up has closed the connection.
        } finally {
            connections.remove(connection);
        }
    }

    /** Answers one request. Returns false if the connection is to be closed. */
    private boolean answer(InputStream in, OutputStream out) throws IOException {
        String request = HeaderLines.read(in);
        if (request == null) {
            return false;
        }
        boolean conditional = false;
        long content = 0;
        for (String line = HeaderLines.read(in); line != null && !line.isEmpty(); line = HeaderLines.read(in)) {
            if (line.regionMatches(true, 0, "If-None-Match:", 0, 14)) {
                conditional = true;
            } else if (line.regionMatches(true, 0, "Content-Length:", 0, 15)) {
                content = Long.parseLong(line.substring(15).strip());
            }
        }
        in.skipNBytes(content);
        requests.incrementAndGet();
        String[] path = request.split(" ", 3)[1].split("/", 4);
        Kind kind = Kind.valueOf(path[1].toUpperCase(Locale.ROOT));
        if (kind == Kind.CUT) {
            return false;
        }
        int size = Integer.parseInt(path[2]);
        boolean unchanged = kind == Kind.VALIDATED && conditional;
        String head = head(kind, size, unchanged);
        boolean withoutBody = unchanged || request.startsWith("HEAD ");
        send(out, head, withoutBody ? 0 : size, kind == Kind.CHUNKED && !withoutBody);
        return kind != Kind.CLOSING;
    }

    private String head(Kind kind, int size, boolean unchanged) {
        StringBuilder head = new StringBuilder(300);
        head.append("HTTP/1.1 ")
                .append(unchanged ? "304 Not Modified" : kind == Kind.MISSING ? "404 Not Found" : "200 OK")
                .append("\r\nServer: warm-up\r\nDate: ")
                .append(HttpDates.format(Instant.now().getEpochSecond()))
                .append("\r\nCache-Control: ")
                .append(cacheControl(kind))
                .append("\r\nETag: \"")
                .append(kind == Kind.CHANGED ? Long.toString(requests.get()) : "1")
                .append("\"\r\nLast-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\n")
                .append(kind == Kind.CLOSING ? "Connection: close\r\n" : "");
        if (!unchanged) {
            head.append("Content-Type: text/html; charset=utf-8\r\n")
                    .append(kind == Kind.VARIED ? "Vary: Accept-Encoding\r\n" : "")
                    .append(kind == Kind.CHUNKED ? "Transfer-Encoding: chunked" : "Content-Length: " + size)
                    .append("\r\n");
        }
        return head.append("\r\n").toString();
    }

    private static String cacheControl(Kind kind) {
        return switch (kind) {
            case STORED, VARIED, CHUNKED -> "public, max-age=3600";
            case VALIDATED, CHANGED -> "no-cache";
            default -> "no-store";
        };
    }

    /** Sends a response, with head and body in one write if possible. */
    private static void send(OutputStream out, String head, int size, boolean chunked) throws IOException {
        byte[] start = head.getBytes(StandardCharsets.ISO_8859_1);
        if (!chunked) {
            byte[] all = new byte[start.length + Math.min(size, CHUNK)];
            System.arraycopy(start, 0, all, 0, start.length);
            out.write(all);
            if (size > CHUNK) {
                out.write(CONTENT, 0, size - CHUNK);
            }
            return;
        }
        out.write(start);
        for (int remainingBytes = size; remainingBytes > 0; remainingBytes -= CHUNK) {
            int length = Math.min(remainingBytes, CHUNK);
            out.write((Integer.toHexString(length) + "\r\n").getBytes(StandardCharsets.ISO_8859_1));
            out.write(CONTENT, 0, length);
            out.write("\r\n".getBytes(StandardCharsets.ISO_8859_1));
        }
        out.write("0\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1));
    }

    private void closeConnections() {
        for (Socket connection : connections) {
            close(connection);
        }
    }

    private static void close(AutoCloseable closed) {
        try {
            closed.close();
        } catch (Exception e) {
            // The object is not used any more, so the failure has no effect.
        }
    }

    /** Closes the listening socket and all connections, and waits until their threads have ended. Blocks. */
    @Override
    public void close() {
        close(listening);
        closeConnections();
        for (Thread thread : threads) {
            Threads.join(thread);
        }
    }
}
