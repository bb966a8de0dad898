package io.millrace.system;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Nodes of the packed product share purges over a real NATS server. */
class FleetTest {
    private static final String FRESH = "Cache-Control: max-age=600";
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

    @TempDir
    Path directory;

    private final List<MillraceProcess> nodes = new ArrayList<>();
    private NatsServer nats;
    private FleetKeyPair keys;

    @BeforeEach
    void startServer() throws IOException {
        NatsServer.assumeInstalled();
        nats = NatsServer.start(directory.resolve("nats"));
        keys = FleetKeyPair.in(directory);
    }

    @AfterEach
    void stopServer() {
        if (nats != null) {
            nats.close();
        }
    }

    private Launch launch(String name) {
        return product.launch()
                .set("fleet.config_public_key_file", keys.publicKey().toString())
                .origin(origin.url())
                .shortWarmUp()
                .set("purge.allow", "127.0.0.1")
                .set("fleet.name", "cdn")
                .set("fleet.servers", "[\"" + nats.url() + "\"]")
                .set("fleet.node", name);
    }

    private void start(int count) {
        for (int i = 0; i < count; i++) {
            nodes.add(launch("n" + i).start());
        }
        nodes.forEach(node -> await().atMost(LIMIT).until(() -> live(node) == count));
    }

    private static int live(MillraceProcess node) {
        Command status = node.millctl("fleet", "status", "-o", "json");
        return status.exitCode() != 0
                ? 0
                : (int) status.json().at("nodes").elements().stream()
                        .filter(one -> one.at("state").text().equals("live"))
                        .count();
    }

    private static String send(MillraceProcess node, String method, String target) {
        try (RawClient client = RawClient.connect(node.port())) {
            return client.send(method + " " + target + " HTTP/1.1\r\nHost: site.example\r\n\r\n")
                    .response()
                    .text();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void store(String path, String content) {
        origin.serves(path, content, FRESH);
        nodes.forEach(node -> send(node, "GET", path));
    }

    private void awaitContent(MillraceProcess node, String path, String content) {
        await().atMost(LIMIT).until(() -> send(node, "GET", path).equals(content));
    }

    /** The only case of the normal run. */
    @Test
    void aPurgeAndAConfigurationReachTheOtherNode() throws IOException {
        start(2);
        store("/page", "first");
        origin.serves("/page", "second", FRESH);
        Command purge = nodes.get(0).millctl("purge", "http://site.example/page", "--wait");
        purge.succeeds();
        assertTrue(purge.err().contains("fleet: complete, applied by 2 nodes"), purge::toString);
        nodes.forEach(node -> assertEquals("second", send(node, "GET", "/page")));
        Path file = Files.writeString(
                directory.resolve("site.yaml"),
                "remap: [{map: http://site.example/, to: '" + origin.url() + "/moved/'}]\n");
        origin.serves("/moved/other", "third", FRESH);
        Command push = nodes.get(0)
                .millctl(
                        "fleet",
                        "config",
                        "push",
                        file.toString(),
                        "--wait",
                        "--key",
                        keys.privateKey().toString());
        push.succeeds();
        nodes.forEach(node -> assertEquals("third", send(node, "GET", "/other")));
    }

    @Test
    @Tag("nightly")
    void aPurgeReachesEveryNode() {
        start(3);
        store("/page", "first");
        origin.serves("/page", "second", FRESH);
        assertEquals("first", send(nodes.get(1), "GET", "/page"));
        Command purge = nodes.get(0).millctl("purge", "http://site.example/page", "--wait");
        purge.succeeds();
        assertTrue(purge.err().contains("fleet: complete, applied by 3 nodes"), purge::toString);
        nodes.forEach(node -> assertEquals("second", send(node, "GET", "/page")));
        origin.serves("/page", "third", FRESH);
        assertTrue(send(nodes.get(1), "PURGE", "/.*").contains("fleet: pending"));
        awaitContent(nodes.get(0), "/page", "third");
        awaitContent(nodes.get(2), "/page", "third");
        String list =
                nodes.get(0).millctl("--node", "n1", "purge", "list").succeeds().out();
        assertTrue(list.contains("host"), list);
        Command all = nodes.get(0).millctl("--node", "all", "status", "-o", "json");
        assertEquals(3, all.succeeds().out().lines().count(), all::toString);
    }

    @Test
    @Tag("nightly")
    void softPurgesUndosAndPatternsReachEveryNode() {
        start(3);
        store("/page", "first");
        Command soft = nodes.get(0).millctl("purge", "--all", "--soft", "--wait", "-o", "json");
        String id = soft.succeeds().json().at("id").text();
        int before = origin.count("/page");
        nodes.get(0).millctl("purge", "undo", id).succeeds();
        await().atMost(LIMIT)
                .until(() -> nodes.get(2).millctl("purge", "list").out().contains("undone"));
        assertEquals("first", send(nodes.get(2), "GET", "/page"));
        assertEquals(before, origin.count("/page"), "validated after the undo");
        origin.serves("/page", "second", FRESH);
        nodes.get(1).millctl("purge", "--regex", "/pa.e$", "--wait").succeeds();
        nodes.forEach(node -> assertEquals("second", send(node, "GET", "/page")));
        origin.serves("/page", "third", FRESH, "xkey: news");
        nodes.get(1).millctl("purge", "--host", "site.example", "--wait").succeeds();
        nodes.forEach(node -> assertEquals("third", send(node, "GET", "/page")));
        origin.serves("/page", "fourth", FRESH);
        nodes.get(2).millctl("purge", "--tag", "news", "--wait").succeeds();
        nodes.forEach(node -> assertEquals("fourth", send(node, "GET", "/page")));
    }

    @Test
    @Tag("nightly")
    void aNodeThatIsKilledWithAQueuedPurgePublishesItLater() throws Exception {
        start(3);
        store("/page", "first");
        nats.kill();
        origin.serves("/page", "second", FRESH);
        MillraceProcess first = nodes.get(0);
        String said =
                first.millctl("purge", "http://site.example/page").succeeds().out();
        assertTrue(said.contains("fleet: pending"), said);
        ProcessHandle worker = first.worker();
        first.killLauncher();
        worker.destroyForcibly();
        worker.onExit().get();
        assertEquals("first", send(nodes.get(1), "GET", "/page"));
        nats.start();
        nodes.set(0, launch("n0").state(first.state()).port(first.port()).start());
        nodes.forEach(node -> awaitContent(node, "/page", "second"));
    }

    @Test
    @Tag("nightly")
    void aServerThatLosesItsDataMakesEveryNodeValidate() throws Exception {
        start(3);
        store("/page", "first");
        nodes.get(0).millctl("purge", "http://site.example/other", "--wait").succeeds();
        nats.kill();
        nats.loseData();
        origin.serves("/page", "second", FRESH);
        nats.start();
        nodes.forEach(node -> awaitContent(node, "/page", "second"));
        nodes.forEach(node -> await().atMost(LIMIT)
                .until(() -> node.millctl("events", "--kind", "fleet-gap").out().contains("created again")));
        origin.serves("/page", "third", FRESH);
        await().atMost(LIMIT).until(() -> live(nodes.get(0)) == 3);
        nodes.get(0).millctl("purge", "http://site.example/page", "--wait").succeeds();
        nodes.forEach(node -> assertEquals("third", send(node, "GET", "/page")));
    }

    @Test
    @Tag("nightly")
    void aWorkerThatIsKilledKeepsItsPosition() {
        start(2);
        store("/page", "first");
        nodes.get(0).millctl("purge", "http://site.example/other", "--wait").succeeds();
        long worker = nodes.get(1).worker().pid();
        nodes.get(1).killWorker();
        nodes.get(1).awaitWorkerAfter(worker);
        origin.serves("/page", "second", FRESH);
        nodes.get(0).millctl("purge", "http://site.example/page", "--wait").succeeds();
        awaitContent(nodes.get(1), "/page", "second");
        String gaps =
                nodes.get(1).millctl("events", "--kind", "fleet-gap").succeeds().out();
        assertEquals(1, gaps.lines().filter(line -> line.contains("fleet-gap")).count(), gaps);
    }
}
