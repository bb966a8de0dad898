package io.millrace.system;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the first steps of a new user: the commands of the README and their results. */
class FirstRunTest {

    private static final String FRESH = "Cache-Control: max-age=600";

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

    @RegisterExtension
    static final PackedProduct neverStarted = PackedProduct.unpackedAnew();

    /** For tests that need no separate launcher. */
    private static MillraceProcess shared;

    @BeforeAll
    static void start() {
        shared = product.launch().origin(origin.url()).start();
    }

    @Test
    void demoSaysInTenLinesWhatItIsAndWhatToTry() throws Exception {
        assertDemo(neverStarted.launch().demo().start());
    }

    @Test
    void scriptInTheCheckoutRunsThePackedProduct() throws Exception {
        String script = Path.of(System.getProperty("millrace.source", ".."))
                .resolve("millrace")
                .toAbsolutePath()
                .normalize()
                .toString();
        assertDemo(product.launch().command(script).demo().start());
    }

    private static void assertDemo(MillraceProcess proxy) {
        await("the last line of the start message")
                .atMost(Duration.ofSeconds(10))
                .until(() -> proxy.stdout().lines().filter(FirstRunTest::isCurl).count() == 2);
        List<String> lines = proxy.stdout().lines().toList();
        assertTrue(lines.size() <= 10, () -> String.join("\n", lines));
        String text = proxy.stdout();
        for (String expected : List.of(
                "127.0.0.1:" + proxy.port(),
                proxy.adminSocket().toString(),
                proxy.state().toString() + "/cache",
                "access.log",
                "/ui/#code=",
                System.getProperty("java.specification.version"),
                "TLS")) {
            assertTrue(text.contains(expected), () -> expected + " is missing in\n" + text);
        }
        Assumptions.assumeTrue(Command.isInstalled("curl"), "SKIPPED: curl is not installed");
        for (String tip : lines.stream().filter(FirstRunTest::isCurl).toList()) {
            String curl = tip.substring(tip.indexOf("curl "));
            Command first =
                    Command.run(proxy.state(), List.of("sh", "-c", curl)).succeeds();
            assertTrue(first.out().startsWith("HTTP/1.1 200"), first::toString);
            Command second =
                    Command.run(proxy.state(), List.of("sh", "-c", curl)).succeeds();
            assertTrue(second.out().startsWith("HTTP/1.1 200"), second::toString);
            assertTrue(
                    second.out().lines().anyMatch(line -> line.matches("(?i)cache-status: .*; ?hit.*")),
                    second::toString);
        }
    }

    private static boolean isCurl(String line) {
        return line.contains(" curl -si ");
    }

    @Test
    void originIsServedWithoutAFile() throws Exception {
        origin.serves("/first", "from the origin", FRESH);
        assertEquals("from the origin", RawClient.fetch(shared.port(), "/first").text());
        assertTrue(RawClient.fetch(shared.port(), "/first").isHit());
        assertTrue(shared.stdout().lines().count() <= 10, shared::stdout);
    }

    @Test
    void jarOfTheLauncherRunsByItself() throws Exception {
        origin.serves("/jar", "through java -jar", FRESH);
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        MillraceProcess proxy = product.launch()
                .command(java, "-jar", launcherJar().toString())
                .origin(origin.url())
                .start();
        assertEquals("through java -jar", RawClient.fetch(proxy.port(), "/jar").text());
        assertTrue(RawClient.fetch(proxy.port(), "/jar").isHit());
    }

    private static Path launcherJar() throws IOException {
        try (Stream<Path> jars = Files.list(product.home().resolve("lib"))) {
            for (Path jar :
                    jars.filter(file -> file.toString().endsWith(".jar")).toList()) {
                try (JarFile opened = new JarFile(jar.toFile())) {
                    String main = opened.getManifest() == null
                            ? null
                            : opened.getManifest().getMainAttributes().getValue("Main-Class");
                    if (main != null && main.startsWith("io.millrace.launcher.")) {
                        return jar;
                    }
                }
            }
        }
        throw new AssertionError("no launcher jar in " + product.home().resolve("lib"));
    }

    @Test
    void secondLauncherOnTheSameStateIsRefusedWithThePidOfTheFirst() {
        Command second = Command.run(
                shared.state(),
                List.of(
                        product.home().resolve("bin/millrace").toString(),
                        "run",
                        "--origin",
                        origin.url(),
                        "--listen",
                        "127.0.0.1:" + PackedProduct.freePort(),
                        "--state",
                        shared.state().toString()));
        assertTrue(second.exitCode() != 0, second::toString);
        assertTrue(second.err().contains(Long.toString(shared.pid())), second::toString);
    }

    @Test
    void portInUseIsAnErrorAndNoSilentShare() {
        Command second = Command.run(
                shared.state(),
                List.of(
                        product.home().resolve("bin/millrace").toString(),
                        "run",
                        "--origin",
                        origin.url(),
                        "--listen",
                        "127.0.0.1:" + shared.port(),
                        "--state",
                        product.newDirectory().toString()));
        assertTrue(second.exitCode() != 0, second::toString);
        assertTrue(second.err().contains(Integer.toString(shared.port())), second::toString);
    }

    @Test
    void sigtermLetsADownloadFinish() throws Exception {
        byte[] half = new byte[200_000];
        new Random(11).nextBytes(half);
        CountDownLatch rest = new CountDownLatch(1);
        origin.on("/slow-download", exchange -> {
            exchange.head(200, "Cache-Control: no-store", "Content-Length: " + 2 * half.length);
            exchange.write(half);
            rest.await();
            exchange.write(half);
        });
        MillraceProcess proxy = product.launch().origin(origin.url()).start();
        try (RawClient client = RawClient.connect(proxy.port())) {
            Wire.Head head = client.get("/slow-download").head();
            assertEquals(200, RawResponse.statusOf(head), head::toString);
            InputStream body = client.body(head);
            assertArrayEquals(half, body.readNBytes(half.length));
            proxy.terminate();
            await("no new connections").atMost(Duration.ofSeconds(20)).until(() -> !accepts(proxy));
            assertTrue(proxy.isAlive(), "the launcher should wait for the download");
            rest.countDown();
            assertTrue(Arrays.equals(half, body.readAllBytes()), "the second half should arrive whole");
        } finally {
            rest.countDown();
        }
        int exitCode = proxy.awaitExit();
        assertTrue(exitCode == 0 || exitCode == 143, "exit code " + exitCode);
    }

    /** Returns true if a new request is still answered. */
    private static boolean accepts(MillraceProcess proxy) {
        try (RawClient client = RawClient.connect(proxy.port())) {
            client.request("GET", "/", "Connection: close").response();
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    @Test
    void storedAnswersSurviveARestartOfEverything() throws Exception {
        origin.serves("/kept", "kept on disk", FRESH);
        MillraceProcess first = product.launch().origin(origin.url()).start();
        assertEquals("kept on disk", RawClient.fetch(first.port(), "/kept").text());
        first.terminate();
        first.awaitExit();
        int before = origin.count("/kept");
        MillraceProcess second = product.launch()
                .origin(origin.url())
                .state(first.state())
                .port(first.port())
                .start();
        RawResponse response = RawClient.fetch(second.port(), "/kept");
        assertEquals("kept on disk", response.text());
        assertTrue(response.isHit(), response::toString);
        assertEquals(before, origin.count("/kept"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "squid    | \\d+\\.\\d{3} +\\d+ 127\\.0\\.0\\.1 TCP_[A-Z_]+/200 \\d+ GET http://\\S+/logged \\S+ \\S+/\\S+ \\S+",
                "combined | 127\\.0\\.0\\.1 - - \\[[^\\]]+\\] \"GET /logged HTTP/1\\.1\" 200 \\d+ \"-\" \"first-run\""
            })
    void accessLogHasALineForEachRequest(String format, String line) throws Exception {
        origin.serves("/logged", "logged", FRESH);
        Path log = product.newDirectory().resolve("requests.log");
        MillraceProcess proxy = product.launch()
                .origin(origin.url())
                .set("log.access.path", log.toString())
                .set("log.access.format", format)
                .start();
        RawClient.fetch(proxy.port(), "/logged", "User-Agent: first-run");
        RawClient.fetch(proxy.port(), "/logged", "User-Agent: first-run");
        await("two lines in the access log")
                .atMost(Duration.ofSeconds(20))
                .until(() -> Files.exists(log) && Files.readAllLines(log).size() == 2);
        for (String written : Files.readAllLines(log)) {
            assertTrue(written.matches(line), () -> written + "\nis not " + line);
        }
        if (format.equals("squid")) {
            // Each event loop passes its records separately, so the two lines may be in either order.
            String lines = read(log);
            assertTrue(lines.contains("TCP_MISS/200"), lines);
            assertTrue(lines.contains("HIT/200"), lines);
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return e.toString();
        }
    }

    @Test
    void metricsCountRequests() throws Exception {
        origin.serves("/counted", "counted", FRESH);
        double before = requestsCounted();
        RawClient.fetch(shared.port(), "/counted");
        RawClient.fetch(shared.port(), "/counted");
        await("two more requests in the metrics")
                .atMost(Duration.ofSeconds(20))
                .until(() -> requestsCounted() >= before + 2);
        String metrics = shared.admin().get("/metrics").text();
        assertTrue(metrics.contains("millrace_config_last_reload_successful{application=\"millrace\"} 1"), metrics);
        assertTrue(metrics.contains("millrace_build{"), metrics);
        assertEquals(200, shared.admin().get("/livez").status());
        assertEquals(200, shared.admin().get("/readyz").status());
    }

    private static double requestsCounted() throws IOException {
        AdminClient.Answer metrics = shared.admin().get("/metrics");
        assertEquals(200, metrics.status(), metrics::text);
        return metrics.text()
                .lines()
                .filter(line -> line.startsWith("millrace_requests_total"))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }

    @Test
    void lookupExplainsAndPurgeMakesTheNextRequestAMiss() throws Exception {
        origin.on("/purged", exchange -> exchange.answer(200, "version " + exchange.number(), FRESH, "ETag: \"p\""));
        String url = shared.url("/purged");
        Json unknown =
                shared.millctl("cache", "lookup", url, "-o", "json").succeeds().json();
        assertFalse(unknown.at("stored").isTrue(), unknown::toString);
        assertEquals("version 1", RawClient.fetch(shared.port(), "/purged").text());
        assertEquals("version 1", RawClient.fetch(shared.port(), "/purged").text());

        Json stored =
                shared.millctl("cache", "lookup", url, "-o", "json").succeeds().json();
        assertTrue(stored.at("stored").isTrue(), stored::toString);
        assertTrue(stored.at("fresh").isTrue(), stored::toString);
        assertEquals(200, stored.at("status").number());
        assertEquals(9, stored.at("length").number());
        assertEquals("\"p\"", stored.at("etag").text());
        assertEquals(600, stored.at("freshness_lifetime_seconds").number());
        assertTrue(List.of("ram", "disk").contains(stored.at("tier").text()), stored::toString);
        shared.millctl("cache", "lookup", url).succeeds();

        Json purged = shared.millctl("purge", url, "-o", "json").succeeds().json();
        assertEquals(url, purged.at("url").text(), purged::toString);
        RawResponse next = RawClient.fetch(shared.port(), "/purged");
        assertEquals("version 2", next.text());
        assertFalse(next.isHit(), next::toString);
    }

    @Test
    void purgedAnswerStaysGoneAfterKillOfTheWorker() throws Exception {
        origin.on("/purged-for-good", exchange -> exchange.answer(200, "version " + exchange.number(), FRESH));
        assertEquals(
                "version 1", RawClient.fetch(shared.port(), "/purged-for-good").text());
        shared.millctl("purge", shared.url("/purged-for-good")).succeeds();
        long worker = shared.worker().pid();
        shared.killWorker();
        shared.awaitWorkerAfter(worker);
        assertEquals(
                "version 2", RawClient.fetch(shared.port(), "/purged-for-good").text());
    }

    /** {@link WorkerArchiveTest}, a nightly test, has the archives that are damaged. */
    @Test
    void theWorkerUsesTheRecordedArchive() throws Exception {
        Path archive = WorkerArchive.in(product.home()).get(0);
        String maps =
                Files.readString(Path.of("/proc", Long.toString(shared.worker().pid()), "maps"));
        assertTrue(maps.contains(archive.getFileName().toString()), maps);
    }

    @Test
    void statusTellsProcessesAndCounts() throws Exception {
        Json status = shared.millctl("status", "-o", "json").succeeds().json();
        assertEquals("running", status.at("state").text(), status::toString);
        assertEquals(shared.pid(), status.at("process.launcher_pid").number());
        assertTrue(status.at("listeners.0.address").text().endsWith(":" + shared.port()), status::toString);
        Command text = shared.millctl("status").succeeds();
        assertTrue(text.out().contains(Integer.toString(shared.port())), text::toString);
    }

    @Test
    void millctlFindsTheOnlyLauncherByItself() {
        Path stateHome = product.newDirectory();
        int port = PackedProduct.freePort();
        MillraceProcess proxy = product.launch()
                .origin(origin.url())
                .port(port)
                .state(stateHome.resolve("millrace").resolve(Integer.toString(port)))
                .start();
        Command status = Command.run(
                stateHome,
                stateHome,
                List.of(product.home().resolve("bin/millctl").toString(), "status", "-o", "json"));
        assertEquals(
                proxy.pid(), status.succeeds().json().at("process.launcher_pid").number());
    }

    /** The launcher leaves a file that names its socket, as the page about the first steps says. */
    @Test
    void millctlFindsALauncherWithAStateDirectoryElsewhere() {
        Command status = Command.run(
                product.newDirectory(),
                MillraceProcess.stateHome(shared.state()),
                List.of(product.home().resolve("bin/millctl").toString(), "status", "-o", "json"));
        assertEquals(
                shared.pid(),
                status.succeeds().json().at("process.launcher_pid").number());
    }

    @Test
    void millctlWithoutALauncherSaysSoWithExitCode3() {
        Command status = product.millctl(
                "status",
                "--admin",
                product.newDirectory().resolve("nobody.sock").toString());
        assertEquals(3, status.exitCode(), status::toString);
        assertFalse(status.err().contains("\tat "), status::toString);
    }
}
