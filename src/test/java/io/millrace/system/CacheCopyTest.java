package io.millrace.system;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests {@code millctl cache warm}, {@code export} and {@code import} with two nodes of the packed product. */
@Tag("nightly")
class CacheCopyTest {
    private static final String FRESH = "Cache-Control: max-age=600";
    private static final Duration LISTED_WITHIN = Duration.ofSeconds(60);

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

    private static MillraceProcess node(Path directory) throws IOException {
        Path config = Files.writeString(
                directory.resolve("millrace.yaml"),
                "storage: [{path: " + directory.resolve("cache") + ", size: 64MiB}]\n"
                        + "remap: [{map: http://www.example.com/, to: \"" + origin.url() + "/\"}]\n");
        return product.launch().config(config).start();
    }

    private static void serve() {
        origin.serves(
                "/sitemap.xml",
                "<urlset><url><loc>http://www.example.com/warm/1</loc></url>"
                        + "<url><loc>http://www.example.com/warm/2</loc></url>"
                        + "<url><loc>http://elsewhere.example/</loc></url></urlset>",
                FRESH);
        origin.serves("/warm/1", "one", FRESH, "xkey: red");
        origin.serves("/warm/2", "two".repeat(60_000), FRESH, "Vary: Accept-Language");
    }

    private static void awaitListed(MillraceProcess proxy, int count) {
        await().atMost(LISTED_WITHIN)
                .pollInterval(Duration.ofMillis(200))
                .until(() -> proxy.millctl("cache", "list", "-o", "json")
                                .json()
                                .at("objects")
                                .elements()
                                .size()
                        == count);
    }

    private static String hit(MillraceProcess proxy, String target, String... fields) throws IOException {
        try (RawClient client = RawClient.connect(proxy.port())) {
            StringBuilder request = new StringBuilder("GET " + target + " HTTP/1.1\r\nHost: www.example.com\r\n");
            for (String field : fields) {
                request.append(field).append("\r\n");
            }
            return client.send(request + "\r\n").response().text();
        }
    }

    @Test
    void warmsOneNodeAndCopiesItsCacheToAnother() throws IOException {
        serve();
        MillraceProcess first = node(product.newDirectory());
        Json warmed = first.millctl("cache", "warm", "--sitemap", "http://www.example.com/sitemap.xml", "-o", "json")
                .succeeds()
                .json();
        assertEquals(2, warmed.at("stored").number(), warmed.toString());
        assertEquals(1, warmed.at("not_served").number());
        String again = first.millctl("cache", "warm", "--sitemap", "http://www.example.com/sitemap.xml")
                .succeeds()
                .out();
        assertTrue(again.contains("100% before, 100% now"), again);

        // A soft purge, and its responses are fresh again after a request for each.
        Json purge = first.millctl("purge", "--tag", "red", "--soft", "-o", "json")
                .succeeds()
                .json();
        Path copy = product.newDirectory().resolve("copy.warc.gz");
        awaitListed(first, 3);
        Json revalidated = first.millctl(
                        "cache", "warm", "--purged", purge.at("id").text(), "-o", "json")
                .succeeds()
                .json();
        assertEquals(1, revalidated.at("requested").number(), revalidated.toString());
        assertEquals(0, revalidated.at("fresh").number());
        awaitListed(first, 3);

        Json exported = first.millctl(
                        "cache", "export", "--host", "www.example.com", "--out", copy.toString(), "-o", "json")
                .succeeds()
                .json();
        assertEquals(3, exported.at("exported").number(), exported.toString());
        assertEquals(
                2,
                first.millctl("cache", "export", "--host", "x", "--out", copy.toString())
                        .exitCode());

        MillraceProcess second = node(product.newDirectory());
        int before = origin.requests().size();
        Json imported = second.millctl("cache", "import", copy.toString(), "-o", "json")
                .succeeds()
                .json();
        assertEquals(3, imported.at("imported").number(), imported.toString());
        assertEquals("one", hit(second, "/warm/1"));
        assertEquals("two".repeat(60_000), hit(second, "/warm/2"));
        assertEquals(before, origin.requests().size());

        // The purge is later than the copy.
        second.millctl("purge", "http://www.example.com/warm/1").succeeds();
        Json refused =
                second.millctl("cache", "import", copy.toString(), "-o", "json").json();
        assertTrue(refused.toString().contains("purged"), refused.toString());
        assertEquals("one", hit(second, "/warm/1"));
        assertEquals(before + 1, origin.requests().size());

        byte[] whole = Files.readAllBytes(copy);
        Path cut = copy.resolveSibling("cut.warc.gz");
        Files.write(cut, Arrays.copyOf(whole, whole.length - 100));
        Command broken = second.millctl("cache", "import", cut.toString());
        assertEquals(1, broken.exitCode());
        assertTrue(broken.err().contains("truncated"), broken.err());
    }

    /** The package warcio, which pip installs, reads an exported file, and its own files can be imported. */
    @Test
    void otherToolsReadAndWriteTheFiles() throws IOException {
        Assumptions.assumeTrue(Command.isInstalled("python3"), "SKIPPED: python3 is not installed");
        Path directory = product.newDirectory();
        Command installed = Command.run(
                directory,
                Duration.ofMinutes(2),
                List.of("sh", "-c", "python3 -m venv venv && venv/bin/pip -q install warcio"));
        Assumptions.assumeTrue(installed.exitCode() == 0, "SKIPPED: pip install warcio: " + installed.err());
        serve();
        MillraceProcess first = node(directory);
        assertEquals("one", hit(first, "/warm/1"));
        hit(first, "/warm/2", "Accept-Language: de");
        awaitListed(first, 2);
        Path copy = directory.resolve("copy.warc.gz");
        first.millctl("cache", "export", "--host", "www.example.com", "--out", copy.toString())
                .succeeds();
        String checked = Command.run(directory, List.of("venv/bin/warcio", "check", "-v", copy.toString()))
                .succeeds()
                .out();
        assertEquals(5, checked.split("digest pass", -1).length - 1, checked);

        Path rewritten = directory.resolve("again.warc.gz");
        Command.run(directory, List.of("venv/bin/warcio", "recompress", copy.toString(), rewritten.toString()))
                .succeeds();
        MillraceProcess second = node(product.newDirectory());
        Json imported = second.millctl("cache", "import", rewritten.toString(), "-o", "json")
                .succeeds()
                .json();
        assertEquals(2, imported.at("imported").number(), imported.toString());
        assertEquals("one", hit(second, "/warm/1"));
    }

    @Test
    void anInterruptedRunSaysHowToContinue() throws Exception {
        StringBuilder list = new StringBuilder();
        for (int i = 0; i < 40; i++) {
            origin.serves("/many/" + i, "page " + i, FRESH);
            list.append("http://www.example.com/many/").append(i).append('\n');
        }
        Path directory = product.newDirectory();
        MillraceProcess proxy = node(directory);
        Path urls = Files.writeString(directory.resolve("urls"), list);
        Path progress = directory.resolve("progress");
        // A shell without job control starts background commands with SIGINT ignored, and child processes inherit that.
        List<String> line = List.of(
                "env",
                "--default-signal=INT",
                product.home().resolve("bin/millctl").toString(),
                "--admin",
                proxy.adminSocket().toString(),
                "cache",
                "warm",
                "--list",
                urls.toString(),
                "--rate",
                "4",
                "--resume",
                progress.toString());
        Path err = directory.resolve("err");
        Process process = new ProcessBuilder(line)
                .redirectError(err.toFile())
                .redirectOutput(directory.resolve("out").toFile())
                .start();
        await().atMost(LISTED_WITHIN).until(() -> origin.count("/many/3") > 0);
        Command.run(directory, List.of("sh", "-c", "kill -INT \"$0\"", Long.toString(process.pid())))
                .succeeds();
        assertTrue(process.waitFor(30, TimeUnit.SECONDS));
        assertEquals(130, process.exitValue());
        String said = Files.readString(err);
        assertTrue(said.contains("continue with the same command"), said);
        assertTrue(Files.exists(progress));
        Command rest = proxy.millctl(
                        "cache", "warm", "--list", urls.toString(), "--rate", "1000", "--resume", progress.toString())
                .succeeds();
        assertTrue(rest.out().contains("requested 40 URLs"), rest.toString());
        assertFalse(Files.exists(progress));
        for (int i = 0; i < 40; i++) {
            assertEquals(1, origin.count("/many/" + i), "/many/" + i);
        }
    }
}
