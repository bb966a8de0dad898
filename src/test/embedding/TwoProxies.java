import com.sun.net.httpserver.HttpServer;
import io.millrace.proxy.ProxyServer;
import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * An application that embeds two proxies. EmbeddingTest runs it in a JVM without flags. It prints OK, or the errors and
 * exits with 1. Remaining resources are compared with those of the JVM before the first proxy.
 */
public final class TwoProxies {

    private static final long SETTLE_NANOS = 20_000_000_000L;
    private static final long POLL_NANOS = 20_000_000L;

    private TwoProxies() {}

    public static void main(String[] arguments) throws Exception {
        AtomicInteger originRequests = new AtomicInteger();
        HttpServer origin = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        origin.createContext("/", exchange -> {
            originRequests.incrementAndGet();
            exchange.getResponseHeaders().set("Cache-Control", "max-age=600");
            byte[] body = "embedded".getBytes(StandardCharsets.US_ASCII);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        origin.start();
        String originUrl = "http://127.0.0.1:" + origin.getAddress().getPort();
        // The client's and the origin's threads and descriptors exist before the count begins.
        fetch(origin.getAddress().getPort());

        Set<String> threads = threads();
        List<String> descriptors = descriptors();
        long directBytes = directBytes();

        originRequests.set(0);
        ProxyServer one = ProxyServer.builder().listen("127.0.0.1:0").map("/", originUrl).start();
        ProxyServer two = ProxyServer.builder().listen("127.0.0.1:0").map("/", originUrl).start();
        check(one.port() != two.port(), "two proxies on one port");
        for (ProxyServer proxy : List.of(one, two)) {
            check(fetch(proxy.port()).contains("embedded"), "no answer");
            String second = fetch(proxy.port());
            check(second.contains("embedded"), "no second answer");
            check(second.matches("(?is).*\r\ncache-status: [^\r]*; ?hit.*"), "no hit: " + second);
        }
        check(originRequests.get() == 2, originRequests + " origin requests");
        one.close();
        check(fetch(two.port()).contains("embedded"), "the second proxy should outlive the first");
        two.close();

        settle(() -> threads.containsAll(threads()), () -> "threads left: " + without(threads(), threads));
        settle(
                () -> without(descriptors(), descriptors).isEmpty(),
                () -> "descriptors left: " + without(descriptors(), descriptors));
        settle(() -> directBytes() <= directBytes, () -> "direct memory left: " + (directBytes() - directBytes));
        origin.stop(0);
        System.out.println("OK");
        System.exit(0);
    }

    private static String fetch(int port) throws IOException {
        String[] answer = new String[1];
        // In a separate thread, because the JDK keeps a direct buffer for each thread that used a socket.
        Thread client = new Thread(() -> {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                socket.getOutputStream()
                        .write("GET / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n"
                                .getBytes(StandardCharsets.US_ASCII));
                answer[0] = new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
            } catch (IOException e) {
                answer[0] = e.toString();
            }
        });
        client.start();
        try {
            client.join();
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
        return answer[0];
    }

    private static Set<String> threads() {
        Set<String> names = new TreeSet<>();
        Thread.getAllStackTraces().keySet().forEach(thread -> names.add(thread.getName()));
        return names;
    }

    /** Returns open descriptors except jars and libraries, which stay open with the classes. */
    private static List<String> descriptors() {
        List<String> open = new ArrayList<>();
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            for (Path descriptor : all.toList()) {
                String target = target(descriptor);
                if (!target.isEmpty()
                        && !target.endsWith(".jar")
                        && !target.endsWith("/modules")
                        && !target.endsWith("random")
                        && !target.startsWith("/proc/")) {
                    open.add(target.replaceAll("[0-9]+", "N"));
                }
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        return open;
    }

    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException e) {
            return "";
        }
    }

    /** Returns the bytes of direct buffers of the JDK, and of those that Netty allocates directly. */
    private static long directBytes() {
        long bytes = PlatformDependent.usedDirectMemory();
        for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
            if (pool.getName().equals("direct")) {
                bytes += pool.getMemoryUsed();
            }
        }
        return bytes;
    }

    private static List<String> without(Iterable<String> some, Iterable<String> others) {
        List<String> rest = new ArrayList<>();
        some.forEach(rest::add);
        others.forEach(rest::remove);
        return rest;
    }

    private static void settle(BooleanSupplier condition, Supplier<String> problem) {
        long end = System.nanoTime() + SETTLE_NANOS;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                check(false, problem.get());
            }
            System.gc();
            LockSupport.parkNanos(POLL_NANOS);
        }
    }

    private static void check(boolean right, String problem) {
        if (!right) {
            System.out.println(problem);
            System.exit(1);
        }
    }
}
