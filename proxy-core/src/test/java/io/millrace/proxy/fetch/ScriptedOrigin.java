package io.millrace.proxy.fetch;

import io.netty.util.NetUtil;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * An origin that does exactly what a test specifies, byte for byte: each connection runs the next script, and the last
 * script is repeated.
 *
 * <p>Exceptions of scripts, and threads that do not finish, fail {@link #close}.
 */
final class ScriptedOrigin implements AutoCloseable {

    /** The handling of one connection, which is closed in order when the script returns. */
    interface Script {
        void run(Peer peer) throws Exception;
    }

    /** Wraps an accepted socket, for TLS. */
    interface Wrapping {
        Socket wrap(Socket accepted) throws IOException;
    }

    /** A complete response, after which the connection stays open. */
    static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

    private static final long JOIN_MILLIS = 20_000;

    private final ServerSocket listening;
    private final Wrapping wrapping;
    private final List<Script> scripts;
    private final List<Thread> threads = new CopyOnWriteArrayList<>();
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();
    private final ConcurrentLinkedQueue<Throwable> problems = new ConcurrentLinkedQueue<>();
    private final AtomicInteger accepted = new AtomicInteger();
    private volatile boolean closed;

    private ScriptedOrigin(String address, Wrapping wrapping, Script... scripts) throws IOException {
        this.wrapping = wrapping;
        this.scripts = List.of(scripts);
        listening = new ServerSocket();
        listening.bind(new InetSocketAddress(NetUtil.createInetAddressFromIpAddressString(address), 0), 64);
        Thread acceptor = new Thread(this::accept, "origin-acceptor");
        acceptor.setDaemon(true);
        threads.add(acceptor);
        acceptor.start();
    }

    static ScriptedOrigin running(Script... scripts) throws IOException {
        return new ScriptedOrigin("127.0.0.1", socket -> socket, scripts);
    }

    static ScriptedOrigin secure(Wrapping wrapping, Script... scripts) throws IOException {
        return new ScriptedOrigin("127.0.0.1", wrapping, scripts);
    }

    /** Answers every request on every connection with these bytes. */
    static Script answering(String response) {
        return peer -> {
            while (peer.readHead() != null) {
                peer.send(response);
            }
        };
    }

    int port() {
        return listening.getLocalPort();
    }

    Origin origin() {
        return Origin.http("127.0.0.1", port());
    }

    int connectionsAccepted() {
        return accepted.get();
    }

    private void accept() {
        while (!closed) {
            Socket socket;
            try {
                socket = listening.accept();
            } catch (IOException e) {
                return;
            }
            int number = accepted.getAndIncrement();
            Script script = scripts.get(Math.min(number, scripts.size() - 1));
            sockets.add(socket);
            Thread thread = new Thread(() -> serve(socket, script), "origin-" + number);
            thread.setDaemon(true);
            threads.add(thread);
            thread.start();
        }
    }

    private void serve(Socket raw, Script script) {
        try (raw) {
            script.run(new Peer(raw, wrapping.wrap(raw)));
        } catch (SocketException e) {
            // The other side may end any connection at any time, and so may close().
        } catch (Throwable e) {
            if (!closed) {
                problems.add(e);
            }
        }
    }

    @Override
    public void close() throws IOException {
        closed = true;
        listening.close();
        for (Socket socket : sockets) {
            socket.close();
        }
        for (Thread thread : threads) {
            join(thread);
            if (thread.isAlive()) {
                problems.add(new AssertionError(thread.getName() + " did not end"));
            }
        }
        if (!problems.isEmpty()) {
            AssertionError all = new AssertionError("the origin's scripts failed: " + problems.peek());
            new ArrayList<>(problems).forEach(all::addSuppressed);
            throw all;
        }
    }

    private void join(Thread thread) {
        try {
            thread.join(JOIN_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            problems.add(e);
        }
    }

    /** The origin's end of one connection. */
    static final class Peer {

        private final Socket raw;
        private final Socket socket;

        Peer(Socket raw, Socket socket) {
            this.raw = raw;
            this.socket = socket;
        }

        Socket socket() {
            return socket;
        }

        /** Returns the next head with its empty line; null if the connection was closed before it began. */
        String readHead() throws IOException {
            ByteArrayOutputStream head = new ByteArrayOutputStream();
            InputStream in = socket.getInputStream();
            int b;
            while ((b = in.read()) >= 0) {
                head.write(b);
                if (b == '\n' && head.toString(StandardCharsets.ISO_8859_1).endsWith("\r\n\r\n")) {
                    return head.toString(StandardCharsets.ISO_8859_1);
                }
            }
            if (head.size() > 0) {
                throw new AssertionError(
                        "closed in the middle of a head: " + head.toString(StandardCharsets.ISO_8859_1));
            }
            return null;
        }

        String read(int length) throws IOException {
            return new String(socket.getInputStream().readNBytes(length), StandardCharsets.ISO_8859_1);
        }

        /** Reads until the other side closes. */
        String readToEnd() throws IOException {
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
        }

        void send(String bytes) throws IOException {
            send(bytes.getBytes(StandardCharsets.ISO_8859_1));
        }

        void send(byte[] bytes) throws IOException {
            socket.getOutputStream().write(bytes);
            socket.getOutputStream().flush();
        }

        /** Returns true if the other side closes, by end of stream or reset, without sending more bytes. */
        boolean isClosedByPeer() throws IOException {
            try {
                return socket.getInputStream().read() < 0;
            } catch (SocketException e) {
                return true;
            }
        }

        /** Ends the TCP connection with RST. */
        void reset() throws IOException {
            raw.setSoLinger(true, 0);
            raw.close();
        }

        /** Ends the TCP connection with FIN, whatever protocol is above it. */
        void cutOff() throws IOException {
            raw.close();
        }
    }
}
