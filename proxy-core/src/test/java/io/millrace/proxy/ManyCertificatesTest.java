package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.tls.TestAuthority;
import io.millrace.proxy.tls.TestAuthority.Made;
import io.millrace.proxy.tls.TlsReport;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.time.Instant;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Measures 50,000 certificates of a directory: time, heap, delay of event loops, and the files that a reload reads.
 * Prints the results.
 */
@Tag("nightly")
class ManyCertificatesTest {
    private static final int COUNT = 50_000;
    private static final int KEYS = 64;
    private static final long LOAD_SECONDS_MAX = 60;
    private static final long HEAP_BYTES_MAX = 600L << 20;
    private static final Instant START = Instant.parse("2020-01-01T00:00:00Z");
    private static final Instant END = Instant.parse("2050-01-01T00:00:00Z");
    private static final TestAuthority AUTHORITY = new TestAuthority("many");

    @TempDir
    Path directory;

    private static String name(int number) {
        return "site-" + number + ".example.com";
    }

    private static void write(Path into, int number, KeyPair keys) {
        Made made = AUTHORITY.issue(keys, START, END, name(number));
        try {
            Files.writeString(into.resolve(name(number) + ".pem"), made.chainPem() + made.keyPem());
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private ProxyConfig config(String certificates) {
        ConfigResult result = ConfigLoader.parse(
                "listen: [{address: '127.0.0.1:0', tls: {}}, '127.0.0.1:0']\ntls: {check_interval: 1h, certificates: ["
                        + certificates + "]}\nremap: [{redirect: /, to: 'http://o/'}]",
                "millrace.yaml",
                directory,
                Map.of("log.access.enabled", "false", "worker.event_loops", "1", "cache.ram_size", "32MiB"));
        assertTrue(result.config() != null, result::text);
        return result.config();
    }

    private static long heapBytes() {
        // Twice, because objects with finalizers and cleaners are freed in the second round.
        System.gc();
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    /** Returns the number of responses of the only event loop until the future is done. */
    private static int answersUntil(CompletableFuture<?> done, ProxyServer proxy) throws IOException {
        int answers = 0;
        try (Socket socket = new Socket()) {
            socket.connect(proxy.addresses().get(1));
            socket.setSoTimeout(60_000);
            byte[] request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
            byte[] bytes = new byte[8192];
            while (!done.isDone()) {
                socket.getOutputStream().write(request);
                assertTrue(socket.getInputStream().read(bytes) > 0);
                answers++;
            }
        }
        return answers;
    }

    private static double seconds(long sinceNanos) {
        return (System.nanoTime() - sinceNanos) / 1e9;
    }

    @Test
    @Timeout(value = 15, unit = TimeUnit.MINUTES)
    void fiftyThousandCertificatesLoadAndReloadWhileTheEventLoopAnswers() throws Exception {
        List<KeyPair> keys = IntStream.range(0, KEYS)
                .mapToObj(each -> TestAuthority.ecKeys())
                .toList();
        Path many = Files.createDirectory(directory.resolve("many"));
        Path one = Files.createDirectory(directory.resolve("one"));
        IntStream.range(0, COUNT).parallel().forEach(each -> write(many, each, keys.get(each % KEYS)));
        write(one, COUNT, keys.get(0));
        try (ProxyServer proxy =
                ProxyServer.builder().config(config("{directory: one}")).start()) {
            long before = heapBytes();
            long begun = System.nanoTime();
            CompletableFuture<Void> loaded = reload(proxy, "{directory: one}, {directory: many}");
            int answers = answersUntil(loaded, proxy);
            loaded.get(LOAD_SECONDS_MAX, TimeUnit.SECONDS);
            double loadSeconds = seconds(begun);
            long heap = heapBytes() - before;
            TlsReport first = proxy.serverTls().report();
            assertEquals(COUNT + 1, first.lines().size());
            assertTrue(first.lines().stream().allMatch(line -> line.fault() == null));
            for (int each : new int[] {0, COUNT / 2, COUNT - 1}) {
                assertEquals(
                        "CN=" + name(each),
                        AUTHORITY
                                .shown(proxy.addresses().get(0), name(each))
                                .getSubjectX500Principal()
                                .getName());
            }

            write(many, 7, TestAuthority.ecKeys());
            long again = System.nanoTime();
            reload(proxy, "{directory: many}, {directory: one}").get(LOAD_SECONDS_MAX, TimeUnit.SECONDS);
            double reloadSeconds = seconds(again);
            Set<Object> known = Collections.newSetFromMap(new IdentityHashMap<>());
            first.lines().forEach(line -> known.add(line.facts()));
            List<Path> read = proxy.serverTls().report().lines().stream()
                    .filter(line -> !known.contains(line.facts()))
                    .map(line -> line.files().certificate())
                    .toList();
            assertEquals(List.of(many.resolve(name(7) + ".pem")), read, "unchanged certificates are not read again");
            System.out.println("ManyCertificatesTest: " + COUNT + " certificates: load " + loadSeconds + " s, reload "
                    + reloadSeconds + " s, heap " + (heap >> 20) + " MiB, answers meanwhile " + answers);
            assertTrue(answers > 100, "the event loop answers while certificates load: " + answers);
            assertTrue(loadSeconds < LOAD_SECONDS_MAX, "load: " + loadSeconds + " s");
            assertTrue(heap < HEAP_BYTES_MAX, "heap: " + heap);
        }
    }

    private CompletableFuture<Void> reload(ProxyServer proxy, String certificates) {
        return CompletableFuture.runAsync(() -> proxy.reload(config(certificates)));
    }
}
