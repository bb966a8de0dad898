package io.millrace.system;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests {@code millctl cache list} of the packed product, and that its map library sends no data. */
@Tag("nightly")
class CacheListTest {
    private static final String FRESH = "Cache-Control: max-age=600";
    private static final Duration LISTED_WITHIN = Duration.ofSeconds(60);

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

    private static List<String> urls(MillraceProcess proxy, String... arguments) {
        String[] all = Stream.concat(Stream.of("cache", "list", "-o", "json"), Stream.of(arguments))
                .toArray(String[]::new);
        String out = proxy.millctl(all).succeeds().out();
        return Pattern.compile("\"url\":\"http://[^/]*([^\"]*)\"")
                .matcher(out)
                .results()
                .map(found -> found.group(1))
                .sorted()
                .toList();
    }

    private static void fetch(MillraceProcess proxy) throws IOException {
        for (String path : List.of("/js/a.js", "/js/b.js", "/css/c.css")) {
            origin.serves(path, "content of " + path, FRESH);
            assertEquals(
                    "content of " + path, RawClient.fetch(proxy.port(), path).text());
        }
    }

    private static void awaitListed(MillraceProcess proxy, int count) {
        await().atMost(LISTED_WITHIN)
                .pollInterval(Duration.ofMillis(200))
                .until(() -> urls(proxy).size() == count);
    }

    @Test
    void listsSearchesAndCountsAndIsThereAgainAfterAKill() throws IOException {
        MillraceProcess proxy = product.launch().origin(origin.url()).start();
        fetch(proxy);
        awaitListed(proxy, 3);
        assertEquals(List.of("/css/c.css", "/js/a.js", "/js/b.js"), urls(proxy));
        assertEquals(List.of("/js/a.js", "/js/b.js"), urls(proxy, "--prefix", proxy.url("/js/")));
        assertEquals(List.of("/css/c.css", "/js/b.js"), urls(proxy, "--regex", "[bc]\\.(js|css)$"));
        assertEquals(List.of(), urls(proxy, "--host", "elsewhere.example"));
        String counted = proxy.millctl("cache", "list", "--count").succeeds().out();
        assertTrue(counted.contains("127.0.0.1:" + proxy.port()), counted);
        assertEquals(2, proxy.millctl("cache", "list", "--regex", "(").exitCode());
        proxy.millctl("purge", proxy.url("/js/a.js")).succeeds();
        assertEquals(List.of("/css/c.css", "/js/b.js"), urls(proxy));
        long before = proxy.worker().pid();
        proxy.killWorker();
        proxy.awaitWorkerAfter(before);
        assertEquals(
                "content of /js/b.js", RawClient.fetch(proxy.port(), "/js/b.js").text());
        awaitListed(proxy, 2);
    }

    @Test
    void nothingIsReportedToAnybody() throws IOException {
        Assumptions.assumeTrue(Command.isInstalled("strace"), "SKIPPED: strace is not installed");
        Path home = product.newDirectory();
        Path trace = product.newDirectory().resolve("trace");
        MillraceProcess proxy = product.launch()
                .command(
                        "env",
                        "HOME=" + home,
                        "strace",
                        "-f",
                        "-qq",
                        "-e",
                        "trace=connect,sendto,sendmsg,sendmmsg",
                        "-o",
                        trace.toString(),
                        product.home().resolve("bin/millrace").toString())
                .origin(origin.url())
                .start();
        long launcher = proxy.status().at("process.launcher_pid").number();
        try {
            fetch(proxy);
            awaitListed(proxy, 3);
            assertTrue(Files.exists(proxy.state().resolve("cache/object-lists")), "there is an inventory");
        } finally {
            // The tracer itself ignores signals; it ends with the traced process.
            ProcessHandle.of(launcher).ifPresent(ProcessHandle::destroy);
            proxy.awaitExit();
        }
        List<String> lines = Files.readAllLines(trace);
        String toOrigin = "htons(" + origin.port() + ")";
        assertTrue(lines.stream().anyMatch(line -> line.contains("connect(") && line.contains(toOrigin)), "traced");
        List<String> toOthers = lines.stream()
                .filter(line -> line.contains("AF_INET") && !line.contains(toOrigin))
                .toList();
        assertEquals(List.of(), toOthers);
        try (Stream<Path> left = Files.walk(home)) {
            assertEquals(List.of(home), left.toList(), "nothing is left in the home directory");
        }
    }
}
