package io.millrace.system;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** An edge of the packed product takes its parents from a fleet over a real NATS server. */
@Tag("nightly")
class FleetRingTest {
    private static final Duration LIMIT = Duration.ofSeconds(90);
    private static final int URLS = 48;

    @RegisterExtension
    static final ScriptedOrigin ofOne = new ScriptedOrigin();

    @RegisterExtension
    static final ScriptedOrigin ofTwo = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

    @TempDir
    Path directory;

    private NatsServer nats;

    @AfterEach
    void stopServer() {
        if (nats != null) {
            nats.close();
        }
    }

    private Launch member(String name, String tier) {
        return product.launch()
                .shortWarmUp()
                .set("fleet.name", "cdn")
                .set("fleet.servers", "[\"" + nats.url() + "\"]")
                .set("fleet.node", name)
                .set("via.name", name)
                .set("fleet.tier", tier);
    }

    private Launch parent(String name, ScriptedOrigin origin, int port) {
        return member(name, "parent").origin(origin.url()).port(port).set("fleet.address", "http://127.0.0.1:" + port);
    }

    /** Returns the parent that answers for each URL. */
    private static Map<Integer, String> owners(MillraceProcess edge) throws IOException {
        Map<Integer, String> owners = new TreeMap<>();
        try (RawClient client = RawClient.connect(edge.port())) {
            for (int i = 0; i < URLS; i++) {
                owners.put(
                        i,
                        client.send("GET /x" + i + " HTTP/1.1\r\nHost: site.example\r\n\r\n")
                                .response()
                                .text());
            }
        }
        return owners;
    }

    private static List<String> hosts(MillraceProcess edge) throws IOException {
        List<String> hosts = new ArrayList<>();
        edge.admin()
                .get("/v1/origins")
                .json()
                .at("hosts")
                .elements()
                .forEach(host -> hosts.add(host.at("host").text()));
        return hosts;
    }

    private static void awaitHosts(MillraceProcess edge, int... ports) {
        List<String> expected = new ArrayList<>();
        for (int port : ports) {
            expected.add("http://127.0.0.1:" + port);
        }
        await().atMost(LIMIT).pollInterval(Duration.ofMillis(20)).until(() -> hosts(edge)
                .equals(expected));
    }

    @Test
    void parentsJoinDrainAndDie() throws Exception {
        NatsServer.assumeInstalled();
        nats = NatsServer.start(directory.resolve("nats"));
        for (int i = 0; i < URLS; i++) {
            ofOne.serves("/x" + i, "one", "Cache-Control: no-store");
            ofTwo.serves("/x" + i, "two", "Cache-Control: no-store");
        }
        Path file = Files.writeString(directory.resolve("edge.yaml"), """
                origins:
                - name: parents
                  policy: consistent_hash
                  hosts_from: {fleet_tier: parent}
                remap:
                - {map: 'http://site.example/', to: 'http://site.example/', origins: parents}
                """);
        MillraceProcess edge = member("edge", "edge").config(file).start();
        assertTrue(owners(edge).values().stream().noneMatch(text -> text.equals("one")), "there is no parent yet");
        int onePort = FreePorts.next();
        int twoPort = FreePorts.next();
        MillraceProcess one = parent("p1", ofOne, onePort).start();
        MillraceProcess two = parent("p2", ofTwo, twoPort).start();
        awaitHosts(edge, onePort, twoPort);
        Map<Integer, String> before = owners(edge);
        assertEquals(Set.of("one", "two"), new TreeSet<>(before.values()));
        String explained =
                edge.millctl("explain", "http://site.example/x0").succeeds().out();
        assertTrue(
                explained.contains("http://127.0.0.1:" + (before.get(0).equals("one") ? onePort : twoPort)), explained);
        long begun = System.nanoTime();
        one.millctl("server", "drain").succeeds();
        awaitHosts(edge, twoPort);
        long drained = System.nanoTime();
        assertEquals(Set.of("two"), new TreeSet<>(owners(edge).values()));
        one.millctl("server", "drain", "--undo").succeeds();
        awaitHosts(edge, onePort, twoPort);
        assertEquals(before, owners(edge));
        long worker = edge.worker().pid();
        edge.killWorker();
        edge.awaitWorkerAfter(worker);
        assertEquals(before, owners(edge), "a new worker knows the parents");
        ProcessHandle workerOfTwo = two.worker();
        long killed = System.nanoTime();
        two.killLauncher();
        workerOfTwo.destroyForcibly();
        awaitHosts(edge, onePort);
        long left = System.nanoTime();
        assertEquals(Set.of("one"), new TreeSet<>(owners(edge).values()));
        System.out.println("a parent left the group " + TimeUnit.NANOSECONDS.toMillis(drained - begun)
                + " ms after the drain began, " + TimeUnit.NANOSECONDS.toMillis(left - killed)
                + " ms after it was killed");
        nats.kill();
        await().atMost(LIMIT)
                .until(() ->
                        edge.admin().get("/v1/fleet").json().at("state").text().equals("disconnected"));
        assertEquals(Set.of("one"), new TreeSet<>(owners(edge).values()), "without servers the parents stay");
    }
}
