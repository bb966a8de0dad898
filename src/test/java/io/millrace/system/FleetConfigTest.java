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
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Three nodes of the packed product share a configuration over a real NATS server. */
@Tag("nightly")
class FleetConfigTest {
    private static final Duration LIMIT = Duration.ofSeconds(90);
    private static final int RULES = Integer.getInteger("millrace.fleet.rules", 20_000);

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
    void startNodes() throws IOException {
        NatsServer.assumeInstalled();
        nats = NatsServer.start(directory.resolve("nats"));
        keys = FleetKeyPair.in(directory);
        for (String path : List.of("/page", "/one/page", "/two/page", "/n0/page")) {
            origin.serves(path, path, "Cache-Control: no-store");
        }
        for (int i = 0; i < 3; i++) {
            nodes.add(launch(i).start());
        }
        nodes.forEach(node -> await().atMost(LIMIT).until(() -> liveNodes(node) == 3));
    }

    @AfterEach
    void stopServer() {
        if (nats != null) {
            nats.close();
        }
    }

    /** Only the first two nodes have the environment variable. */
    private Launch launch(int i) {
        String program = product.home().resolve("bin/millrace").toString();
        Launch launch = product.launch();
        if (i < 2) {
            launch.command("env", "FLEET_TEST_PREFIX=two", program);
        }
        return launch.origin(origin.url())
                .shortWarmUp()
                .set("fleet.name", "cdn")
                .set("fleet.servers", "[\"" + nats.url() + "\"]")
                .set("fleet.node", "n" + i)
                .set("fleet.config_public_key_file", keys.publicKey().toString());
    }

    private static int liveNodes(MillraceProcess node) {
        return (int) status(node).at("nodes").elements().stream()
                .filter(one -> one.at("connection").text().equals("live"))
                .count();
    }

    private static Json status(MillraceProcess node) {
        return node.millctl("fleet", "config", "status", "-o", "json").json();
    }

    private static String get(MillraceProcess node, String path) {
        try (RawClient client = RawClient.connect(node.port())) {
            return client.send("GET " + path + " HTTP/1.1\r\nHost: site.example\r\n\r\n")
                    .response()
                    .text();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void awaitContent(String expected, int... of) {
        for (int i : of) {
            await().atMost(LIMIT).until(() -> get(nodes.get(i), "/page").equals(expected));
        }
    }

    private Command push(String yaml, String... options) throws IOException {
        return push(nodes.get(0), yaml, options);
    }

    private Command push(MillraceProcess node, String yaml, String... options) throws IOException {
        Path file = Files.writeString(directory.resolve("site.yaml"), yaml);
        List<String> arguments = new ArrayList<>(List.of("fleet", "config", "push", file.toString()));
        arguments.addAll(List.of("--key", keys.privateKey().toString()));
        arguments.addAll(List.of(options));
        return node.millctl(arguments.toArray(String[]::new));
    }

    private static String rule(String prefix) {
        return "remap: [{map: http://site.example/, to: '" + origin.url() + "/" + prefix + "/'}]\n";
    }

    @Test
    void aRevisionReachesNodesByTierNodeAndEnvironmentAndOneMayRejectIt() throws IOException {
        push(rule("one"), "--wait").succeeds();
        awaitContent("/one/page", 0, 1, 2);
        Command rejected = push(rule("${FLEET_TEST_PREFIX}"), "--wait");
        assertEquals(1, rejected.exitCode(), rejected::toString);
        assertTrue(rejected.out().contains("rejected"), rejected::toString);
        assertTrue(rejected.out().contains("FLEET_TEST_PREFIX is not set"), rejected::toString);
        awaitContent("/two/page", 0, 1);
        assertEquals("/one/page", get(nodes.get(2), "/page"));
        Command local = push("admin: {listen: ':9'}\n");
        assertEquals(2, local.exitCode(), local::toString);
        assertTrue(local.out().contains("site.yaml:1:1: admin: cannot be pushed"), local::toString);
        nodes.get(1)
                .millctl(
                        "fleet",
                        "config",
                        "rollback",
                        "--wait",
                        "--key",
                        keys.privateKey().toString())
                .succeeds();
        awaitContent("/one/page", 0, 1, 2);
        String history =
                nodes.get(2).millctl("fleet", "config", "history").succeeds().out();
        assertTrue(history.contains("content of 1"), history);
    }

    @Test
    void aCanaryThatFailsIsRolledBackAlthoughTheNodeThatPushedIsKilled() throws Exception {
        push(rule("one"), "--wait").succeeds();
        push(rule("two"), "--canary", "n1", "--for", "8s", "--guard", "hit_ratio>50")
                .succeeds();
        MillraceProcess pusher = nodes.get(0);
        ProcessHandle worker = pusher.worker();
        pusher.killLauncher();
        worker.destroyForcibly();
        worker.onExit().get();
        awaitContent("/two/page", 1);
        assertEquals("/one/page", get(nodes.get(2), "/page"));
        awaitContent("/one/page", 1);
        Json state = status(nodes.get(2));
        assertEquals("all", state.at("stage").text());
        String reason = state.at("reason").text();
        assertTrue(reason.startsWith("n1: hit_ratio is 0, the guard is hit_ratio>50"), reason);
        String events =
                nodes.get(1).millctl("events", "--kind", "fleet-config-failed").out();
        assertTrue(events.contains("was rolled back"), events);
        await().atMost(LIMIT)
                .until(() -> nodes.get(2).millctl("alarm", "list").out().contains("fleet-config"));
        nodes.set(0, launch(0).state(pusher.state()).port(pusher.port()).start());
        awaitContent("/one/page", 0);
    }

    @Test
    void aCanaryThatPassesReachesEveryNode() throws IOException {
        push(rule("one"), "--wait").succeeds();
        push(rule("two"), "--canary", "n2", "--for", "5s", "--guard", "errors<50", "--wait")
                .succeeds();
        awaitContent("/two/page", 0, 1, 2);
    }

    /** Prints how long a long configuration takes until it is in force everywhere, which depends on the machine. */
    @Test
    void manyRulesReachEveryNode() throws IOException {
        for (String prefix : List.of("one", "two")) {
            StringBuilder yaml = new StringBuilder("remap:\n");
            for (int i = 0; i < RULES; i++) {
                yaml.append("- map: http://host").append(i).append(".example/path/\n  to: ");
                yaml.append(origin.url()).append('/').append(prefix).append("/\n");
            }
            yaml.append("- map: http://site.example/\n  to: ").append(origin.url() + "/" + prefix + "/\n");
            long begun = System.nanoTime();
            push(yaml.toString()).succeeds();
            long published = System.nanoTime();
            awaitContent("/" + prefix + "/page", 0, 1, 2);
            System.out.println(RULES + " rules: published after " + millis(published - begun)
                    + " ms, in force on three nodes after " + millis(System.nanoTime() - begun) + " ms");
        }
    }

    private static long millis(long nanos) {
        return TimeUnit.NANOSECONDS.toMillis(nanos);
    }

    @Test
    void afterALossOfTheServersDataTheNextPushReachesEveryNode() throws Exception {
        push(rule("one"), "--wait").succeeds();
        nats.kill();
        nats.loseData();
        nats.start();
        nodes.forEach(node -> await().atMost(LIMIT)
                .until(() -> status(node).at("stage").text().equals("none")));
        nodes.forEach(node -> await().atMost(LIMIT).until(() -> liveNodes(node) == 3));
        assertEquals("/one/page", get(nodes.get(2), "/page"));
        Command pushed = push(rule("two"), "--wait").succeeds();
        assertTrue(pushed.err().contains("revision 2 is published"), pushed::toString);
        awaitContent("/two/page", 0, 1, 2);
    }

    @Test
    void aNodeThatWasAwayAppliesTheNewestAndServesTheLastGoodWithoutServers() throws Exception {
        push(rule("one"), "--wait").succeeds();
        MillraceProcess away = nodes.get(2);
        ProcessHandle worker = away.worker();
        away.killLauncher();
        worker.destroyForcibly();
        worker.onExit().get();
        nats.kill();
        nodes.set(2, launch(2).state(away.state()).port(away.port()).start());
        awaitContent("/one/page", 2);
        nats.start();
        await().atMost(LIMIT)
                .until(() -> status(nodes.get(0)).at("state").text().equals("on"));
        await().atMost(LIMIT).until(() -> push(rule("${fleet.node}")).exitCode() == 0);
        awaitContent("/n0/page", 0);
    }
}
