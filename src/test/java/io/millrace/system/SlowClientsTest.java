package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Two thousand clients request a body that is not stored and never read it, from three origins, while others request a
 * hit, a small miss and 4 MiB. Their responses must be complete. {@code millrace.slow.readers} sets the number of
 * clients that never read.
 */
@Tag("nightly")
class SlowClientsTest {
    private static final int READERS = Integer.getInteger("millrace.slow.readers", 2_000);
    private static final int RECEIVE_BYTES = 2048;
    private static final int TIMEOUT_MILLIS = 60_000;
    private static final byte[] PIECE = new byte[64 << 10];
    private static final int HUGE_PIECES = 1600;
    private static final int LARGE_PIECES = 64;

    @RegisterExtension
    static final ScriptedOrigin first = new ScriptedOrigin();

    @RegisterExtension
    static final ScriptedOrigin second = new ScriptedOrigin();

    @RegisterExtension
    static final ScriptedOrigin third = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

    private final List<Socket> stuck = new ArrayList<>();
    private final AtomicBoolean over = new AtomicBoolean();

    @AfterEach
    void leave() throws IOException {
        over.set(true);
        for (Socket socket : stuck) {
            socket.close();
        }
    }

    /** A client that requests one path repeatedly and counts the responses. */
    private final class Prober extends Thread {
        private final int port;
        private final String host;
        private final String path;
        private final long length;
        private final Map<String, Integer> seen = new TreeMap<>();

        private Prober(int port, String host, String path, long length) {
            this.port = port;
            this.host = host;
            this.path = path;
            this.length = length;
            setDaemon(true);
        }

        @Override
        public void run() {
            while (!over.get()) {
                seen.merge(ask(), 1, Integer::sum);
            }
        }

        private String ask() {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                socket.setSoTimeout(TIMEOUT_MILLIS);
                send(socket, host, path, "Connection: close\r\n");
                Wire wire = new Wire(socket.getInputStream());
                Wire.Head head = wire.head();
                if (head == null) {
                    return "EMPTY";
                }
                String status = head.startLine().substring(9, 12);
                long got = drain(wire.body(head, Wire.ofResponse(head, Integer.parseInt(status), false)));
                return status.equals("200") && got != length ? "200 cut at " + got : status;
            } catch (IOException e) {
                return e.getClass().getSimpleName();
            }
        }
    }

    private static long drain(InputStream in) throws IOException {
        byte[] buffer = new byte[64 << 10];
        long got = 0;
        for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
            got += count;
        }
        return got;
    }

    private static void send(Socket socket, String host, String path, String more) throws IOException {
        OutputStream out = socket.getOutputStream();
        out.write(("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n" + more + "\r\n")
                .getBytes(StandardCharsets.US_ASCII));
    }

    private static void sendPieces(OriginExchange exchange, int pieces) throws IOException {
        exchange.head(200, "Cache-Control: no-store", "Content-Length: " + (long) pieces * PIECE.length);
        for (int i = 0; i < pieces; i++) {
            exchange.write(PIECE);
        }
    }

    private static void script(ScriptedOrigin origin) {
        origin.on("/hit", exchange -> exchange.answer(200, PIECE, "Cache-Control: max-age=3600"));
        origin.on("/miss", exchange -> exchange.answer(200, PIECE, "Cache-Control: no-store"));
        origin.on("/large", exchange -> sendPieces(exchange, LARGE_PIECES));
        origin.on("/huge", exchange -> sendPieces(exchange, HUGE_PIECES));
    }

    @ParameterizedTest
    @CsvSource({"0, abc", "8MiB, abc", "0, b"})
    void othersAreServedWhole(String budget, String hosts) throws Exception {
        script(first);
        script(second);
        script(third);
        Path config = product.newDirectory().resolve("millrace.yaml");
        Files.writeString(config, """
                storage: []
                cache: {ram_size: 64MiB}
                limits: {memory_in_flight: %s}
                remap:
                  - {map: "http://a/", to: "%s"}
                  - {map: "http://b/", to: "%s"}
                  - {map: "http://c/", to: "%s"}
                """.formatted(budget, first.url(), second.url(), third.url()));
        MillraceProcess proxy = product.launch().config(config).start();
        List<Prober> probers = List.of(
                new Prober(proxy.port(), "a", "/hit", PIECE.length),
                new Prober(proxy.port(), "b", "/miss", PIECE.length),
                new Prober(proxy.port(), "c", "/large", (long) LARGE_PIECES * PIECE.length));
        probers.forEach(Thread::start);

        for (int i = 0; i < READERS; i++) {
            Socket socket = new Socket();
            stuck.add(socket);
            socket.setReceiveBufferSize(RECEIVE_BYTES);
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), proxy.port()), TIMEOUT_MILLIS);
            send(socket, hosts.substring(i % hosts.length(), i % hosts.length() + 1), "/huge", "");
        }
        Awaitility.await()
                .atMost(Duration.ofSeconds(60))
                .until(() -> metric(proxy, "millrace_slow_clients_closed_total") > 0);
        over.set(true);
        for (Prober prober : probers) {
            prober.join();
            System.out.println(prober.path + " " + prober.seen);
            assertTrue(prober.seen.getOrDefault("200", 0) > 0, () -> prober.path + " was never answered");
            assertTrue(
                    prober.seen.keySet().stream().allMatch(seen -> seen.equals("200") || seen.equals("503")),
                    () -> prober.path + " got " + prober.seen);
        }
        assertEquals(1, probers.get(0).seen.size(), "hits are answered always");

        leave();
        Awaitility.await()
                .atMost(Duration.ofSeconds(60))
                .until(() -> metric(proxy, "millrace_memory_in_flight_bytes") < 1 << 20);
        assertEquals(0, metric(proxy, "millrace_memory_allocation_failures_total"));
        assertFalse(proxy.stderr().contains("Exception"), proxy::stderr);
        assertFalse(proxy.stderr().contains("OutOf"), proxy::stderr);
    }

    /** Returns the sum over all series of a metric. */
    private static double metric(MillraceProcess proxy, String name) throws IOException {
        return proxy.admin()
                .get("/metrics")
                .text()
                .lines()
                .filter(line -> line.startsWith(name + "{") || line.startsWith(name + " "))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }
}
