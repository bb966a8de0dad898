package io.millrace.cli.client;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * An admin API with responses that a test specifies, the same for all requests or one for each: the bytes, in the given
 * pieces and with the given end. Serves one connection after the other on its own thread; must be closed.
 */
public final class ScriptedAdmin implements AutoCloseable {
    /** The end of the connection after the last piece. */
    public enum End {
        CLOSE,
        STAY_OPEN
    }

    private final ServerSocketChannel listening;
    private final List<List<String>> answers;
    private final End end;
    private final List<String> requests = Collections.synchronizedList(new ArrayList<>());
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread thread;

    private ScriptedAdmin(ServerSocketChannel listening, End end, List<String> pieces) {
        this(listening, List.of(pieces), end);
    }

    private ScriptedAdmin(ServerSocketChannel listening, List<List<String>> answers, End end) {
        this.listening = listening;
        this.end = end;
        this.answers = answers;
        this.thread = new Thread(this::serve, "scripted-admin");
        thread.start();
    }

    /** Serves {@code pieces} on a Unix socket. */
    public static ScriptedAdmin on(Path socket, End end, String... pieces) throws IOException {
        ServerSocketChannel listening = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        listening.bind(UnixDomainSocketAddress.of(socket));
        return new ScriptedAdmin(listening, end, List.of(pieces));
    }

    /** Serves complete responses on a Unix socket, one after the other; the last one is repeated. */
    public static ScriptedAdmin inTurn(Path socket, List<String> responses) throws IOException {
        ServerSocketChannel listening = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        listening.bind(UnixDomainSocketAddress.of(socket));
        List<List<String>> answers = new ArrayList<>();
        responses.forEach(response -> answers.add(List.of(response)));
        return new ScriptedAdmin(listening, answers, End.CLOSE);
    }

    /** Serves {@code pieces} on a TCP port of loopback. */
    public static ScriptedAdmin onLoopback(End end, String... pieces) throws IOException {
        ServerSocketChannel listening = ServerSocketChannel.open();
        listening.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        return new ScriptedAdmin(listening, end, List.of(pieces));
    }

    /** Returns a complete response with a Content-Length. */
    public static String response(int status, String body) {
        return "HTTP/1.1 " + status + " Word\r\nContent-Type: application/json\r\nContent-Length: "
                + body.getBytes(StandardCharsets.UTF_8).length + "\r\n\r\n" + body;
    }

    /** Returns the URL of a server on TCP. */
    public String url() throws IOException {
        SocketAddress address = listening.getLocalAddress();
        return "http://127.0.0.1:" + ((InetSocketAddress) address).getPort();
    }

    /** Returns the requests so far, each with head and body. */
    public List<String> requests() {
        synchronized (requests) {
            return List.copyOf(requests);
        }
    }

    private void serve() {
        while (listening.isOpen()) {
            try (SocketChannel channel = listening.accept()) {
                String request = read(channel);
                if (request.isEmpty()) {
                    continue; // the client only checked whether a process listens
                }
                requests.add(request);
                for (String piece : answers.get(Math.min(requests.size(), answers.size()) - 1)) {
                    ByteBuffer bytes = StandardCharsets.UTF_8.encode(piece);
                    while (bytes.hasRemaining()) {
                        channel.write(bytes);
                    }
                }
                if (end == End.STAY_OPEN) {
                    closing.await();
                }
            } catch (IOException e) {
                // the client has disconnected, or the test is over
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    /** Reads one request; returns an empty text if the client closes without one. */
    private static String read(SocketChannel channel) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(64 << 10);
        while (true) {
            String soFar =
                    StandardCharsets.UTF_8.decode(buffer.duplicate().flip()).toString();
            int headEnd = soFar.indexOf("\r\n\r\n");
            if (headEnd >= 0) {
                int at = soFar.indexOf("Content-Length: ");
                int length = at < 0 || at > headEnd
                        ? 0
                        : Integer.parseInt(soFar.substring(at + 16, soFar.indexOf("\r\n", at)));
                if (buffer.position() >= headEnd + 4 + length) {
                    return soFar;
                }
            }
            if (channel.read(buffer) < 0) {
                return soFar;
            }
        }
    }

    @Override
    public void close() throws IOException {
        listening.close();
        closing.countDown();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
