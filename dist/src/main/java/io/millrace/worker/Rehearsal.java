package io.millrace.worker;

import io.millrace.proxy.ProxyServer;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.http.HttpDates;
import io.millrace.worker.control.ControlCodec;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A worker's life in a second, for the JVM to record which classes it loads: later workers map them from an archive and
 * start in half the time. Serves one page on loopback, to itself, from the origin, from RAM and not at all.
 */
public final class Rehearsal {
    private static final String PAGE = """
            HTTP/1.1 200 OK\r
            Date: %s\r
            Cache-Control: max-age=60\r
            ETag: "1"\r
            Content-Type: text/plain\r
            Content-Length: 3\r
            \r
            ok
            """;

    private Rehearsal() {}

    /** @param arguments a directory to write to, empty */
    public static void main(String[] arguments) throws IOException {
        perform(Path.of(arguments[0]));
        System.exit(0);
    }

    /** Returns how many of its requests were answered. */
    static int perform(Path directory) throws IOException {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        try (ServerSocket origin = new ServerSocket(0, 16, loopback)) {
            Thread answering = new Thread(() -> answer(origin), "rehearsal-origin");
            answering.setDaemon(true);
            answering.start();
            ProxyConfig config = ProxyConfig.builder()
                    .listen("127.0.0.1:0")
                    .map("/", "http://127.0.0.1:" + origin.getLocalPort())
                    .storage(directory.resolve("cache"), 64L << 20)
                    .set("cache.ram_size", "16MiB")
                    .set("log.access.path", directory.resolve("access.log").toString())
                    .build();
            try (ProxyServer proxy = ProxyServer.builder()
                    .config(config)
                    .adminSocket(directory.resolve("admin.sock"))
                    .build()) {
                return serve(proxy);
            }
        }
    }

    private static int serve(ProxyServer proxy) throws IOException {
        proxy.start();
        load(Worker.class, ControlLink.class, DescriptorExchange.class, ControlCodec.class);
        InetSocketAddress address = proxy.addresses().get(0);
        int answered = 0;
        for (String fields : List.of("", "", "If-None-Match: \"1\"\r\n", "Cookie: a=b\r\nAccept-Encoding: gzip\r\n")) {
            if (get(address, fields).startsWith("HTTP/1.1 ")) {
                answered++;
            }
        }
        proxy.beat(() -> {});
        proxy.tls();
        proxy.metricsText();
        proxy.drain(TimeUnit.SECONDS.toNanos(1)).toCompletableFuture().join();
        return answered;
    }

    private static void load(Class<?>... classes) {
        for (Class<?> loaded : classes) {
            try {
                Class.forName(loaded.getName());
            } catch (ClassNotFoundException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static String get(InetSocketAddress address, String fields) throws IOException {
        try (Socket socket = new Socket(address.getAddress(), address.getPort())) {
            String request = "GET /page HTTP/1.1\r\nHost: rehearsal\r\n" + fields + "Connection: close\r\n\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        }
    }

    /** Answers each connection once, until the socket is closed. */
    private static void answer(ServerSocket origin) {
        while (!origin.isClosed()) {
            try (Socket socket = origin.accept()) {
                byte[] head = new byte[4096];
                if (socket.getInputStream().read(head) > 0) {
                    String date = HttpDates.format(Instant.now().getEpochSecond());
                    socket.getOutputStream().write(PAGE.formatted(date).getBytes(StandardCharsets.US_ASCII));
                }
            } catch (IOException e) {
                // The rehearsal is over.
                return;
            }
        }
    }
}
