package io.millrace.proxy;

import java.io.IOException;
import java.io.OutputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** An origin on a Unix domain socket that answers every request with a word and the request's Host field. */
final class UnixOrigin implements AutoCloseable {
    private final Path path;
    private final String word;
    private final ServerSocketChannel listening;
    private final List<SocketChannel> open = new CopyOnWriteArrayList<>();
    private final AtomicInteger connections = new AtomicInteger();

    UnixOrigin(Path path, String word) throws IOException {
        this.path = path;
        this.word = word;
        listening = ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(path));
        start(this::accept);
    }

    private static void start(Runnable task) {
        Thread thread = new Thread(task, "unix-origin");
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        try {
            while (true) {
                SocketChannel peer = listening.accept();
                connections.incrementAndGet();
                open.add(peer);
                start(() -> serve(peer));
            }
        } catch (IOException e) {
            // The end of the test.
        }
    }

    private void serve(SocketChannel peer) {
        try (peer) {
            RawInput in = new RawInput(Channels.newInputStream(peer));
            OutputStream out = Channels.newOutputStream(peer);
            String head;
            while ((head = in.readHead()) != null) {
                String content = word + " for " + RawClient.field(head, "host");
                out.write(RawInput.latin1("HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: "
                        + content.length() + "\r\n\r\n" + content));
            }
        } catch (IOException e) {
            // The proxy may end any connection at any time.
        }
    }

    Path path() {
        return path;
    }

    int connections() {
        return connections.get();
    }

    @Override
    public void close() throws IOException {
        listening.close();
        for (SocketChannel each : open) {
            each.close();
        }
        Files.deleteIfExists(path);
    }
}
