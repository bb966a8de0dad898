package io.millrace.bench.http1;

import io.millrace.proxy.ProxyServer;
import io.millrace.proxy.config.ProxyConfig;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * Benchmark of requests that the proxy refuses. It compares a request with 50,000 fields, a short invalid request, and
 * a request with a head just below the limit. It measures the CPU time of the event loop per request. It also measures
 * the time until the client has received the response and the end of the connection. Each request has a connection of
 * its own.
 *
 * <pre>
 *   java -cp benchmarks.jar io.millrace.bench.http1.RefusalDriver [requests]
 * </pre>
 */
public final class RefusalDriver {
    private static final int ROUNDS = 3;
    private static final String START = "GET /a HTTP/1.1\r\nHost: test.example\r\n";
    private static final String FIELD = "X-Field: 1\r\n";
    /** Number of fields just below the default limit of 32 KiB, which also counts an overhead per field. */
    private static final int FIELDS_ACCEPTED = 2_700;

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private RefusalDriver() {}

    /** Runs the benchmark. */
    public static void main(String[] args) throws IOException {
        int requests = args.length > 0 ? Integer.parseInt(args[0]) : 2_000;
        ProxyConfig config = ProxyConfig.builder()
                .listen("127.0.0.1:0")
                .map("/", "http://127.0.0.1:1")
                .set("cache.ram_size", "32MiB")
                .set("log.access.enabled", "false")
                .set("worker.event_loops", "1")
                .build();
        try (ProxyServer proxy = ProxyServer.builder().config(config).build()) {
            proxy.start();
            InetSocketAddress address = proxy.addresses().get(0);
            say("%-44s %8s %6s %12s %12s", "request", "bytes", "answer", "loop us", "client us");
            for (int round = 0; round < ROUNDS; round++) {
                run(address, requests, "no Host, refused with 400", "GET /a HTTP/1.1\r\n\r\n");
                run(
                        address,
                        requests,
                        "the same, followed by 600,000 bytes",
                        "GET /a HTTP/1.1\r\n\r\n" + FIELD.repeat(50_000));
                run(address, requests, "3,000 fields, refused with 431", START + FIELD.repeat(3_000) + "\r\n");
                run(address, requests, "50,000 fields, refused with 431", START + FIELD.repeat(50_000) + "\r\n");
                run(
                        address,
                        requests,
                        "2,700 fields, accepted, answered with 504",
                        START + "Cache-Control: only-if-cached\r\nConnection: close\r\n" + FIELD.repeat(FIELDS_ACCEPTED)
                                + "\r\n");
            }
        }
    }

    private static void run(InetSocketAddress address, int requests, String name, String text) throws IOException {
        byte[] request = text.getBytes(StandardCharsets.US_ASCII);
        for (int i = 0; i < requests / 2; i++) {
            exchange(address, request);
        }
        String answer = "";
        long cpuNanos = loopCpuNanos();
        long nanos = System.nanoTime();
        for (int i = 0; i < requests; i++) {
            String status = exchange(address, request);
            answer = status.isEmpty() ? answer : status;
        }
        nanos = System.nanoTime() - nanos;
        cpuNanos = loopCpuNanos() - cpuNanos;
        say(
                "%-44s %8d %6s %12.1f %12.1f",
                name, request.length, answer, cpuNanos / 1e3 / requests, nanos / 1e3 / requests);
    }

    /**
     * Returns the status; empty if the connection was reset before the answer was read. A reset is possible because the
     * proxy does not read the remaining bytes of a refused request.
     */
    private static String exchange(InetSocketAddress address, byte[] request) throws IOException {
        try (Socket socket = new Socket(address.getAddress(), address.getPort())) {
            OutputStream out = socket.getOutputStream();
            InputStream in = socket.getInputStream();
            try {
                out.write(request);
                byte[] answer = in.readAllBytes();
                return new String(answer, "HTTP/1.1 ".length(), 3, StandardCharsets.US_ASCII);
            } catch (java.net.SocketException e) {
                return "";
            }
        }
    }

    private static long loopCpuNanos() {
        long nanos = 0;
        for (ThreadInfo thread : THREADS.getThreadInfo(THREADS.getAllThreadIds())) {
            if (thread != null && thread.getThreadName().startsWith("millrace-loop")) {
                nanos += THREADS.getThreadCpuTime(thread.getThreadId());
            }
        }
        return nanos;
    }

    @SuppressWarnings("SystemOut")
    private static void say(String format, Object... values) {
        System.out.println(String.format(Locale.ROOT, format, values));
    }
}
