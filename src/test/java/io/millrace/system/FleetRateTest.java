package io.millrace.system;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Many purges in a fleet of three packed nodes and a NATS server on one machine. None is lost. Prints how long purges
 * take, which depends on the machine.
 */
@Tag("nightly")
@Tag("alone")
@Timeout(400)
class FleetRateTest {
    private static final String FRESH = "Cache-Control: max-age=86400";
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final int CONNECTIONS = 16;
    private static final int PER_SECOND = Integer.getInteger("millrace.fleet.rate", 2000);
    private static final int SECONDS = Integer.getInteger("millrace.fleet.seconds", 60);
    private static final int MISSED = Integer.getInteger("millrace.fleet.missed", 100_000);
    private static final int ROUNDS = Integer.getInteger("millrace.fleet.rounds", 900);
    /** The first line is of nodes that have just started, the later ones of nodes that have run for a while. */
    private static final int ROUNDS_OF_A_LINE = 300;

    /** Number of the targets of a load, which are purged again and again. */
    private static final int TARGETS = 1000;

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

    @TempDir
    Path directory;

    private final List<MillraceProcess> nodes = new ArrayList<>();
    private NatsServer nats;

    @BeforeEach
    void startFleet() throws IOException {
        NatsServer.assumeInstalled();
        nats = NatsServer.start(directory.resolve("nats"));
        for (int i = 0; i < 3; i++) {
            nodes.add(launch(i).start());
        }
        for (MillraceProcess node : nodes) {
            await().atMost(LIMIT).until(() -> liveNodes(node) == 3);
        }
    }

    @AfterEach
    void stopServer() {
        if (nats != null) {
            nats.close();
        }
    }

    private Launch launch(int number) {
        return product.launch()
                .origin(origin.url())
                .shortWarmUp()
                .set("purge.allow", "127.0.0.1")
                .set("fleet.name", "cdn")
                .set("fleet.servers", "[\"" + nats.url() + "\"]")
                .set("fleet.node", "n" + number);
    }

    private static Json fleet(MillraceProcess node) throws IOException {
        return node.admin().get("/v1/fleet").json();
    }

    private static long liveNodes(MillraceProcess node) throws IOException {
        return fleet(node).at("nodes").elements().stream()
                .filter(one -> one.at("state").text().equals("live"))
                .count();
    }

    private static String get(RawClient client, String path) throws IOException {
        return client.send("GET " + path + " HTTP/1.1\r\nHost: site.example\r\n\r\n")
                .response()
                .text();
    }

    private static String purge(int number) {
        int target = number % TARGETS;
        return "PURGE /other/" + target + " HTTP/1.1\r\nHost: host" + target / 12 + ".example\r\n\r\n";
    }

    private PurgeLoad load(int count, int perSecond) throws Exception {
        PurgeLoad load = new PurgeLoad(nodes.get(0).port(), CONNECTIONS, count, perSecond, FleetRateTest::purge);
        load.join();
        assertEquals(List.of(), load.failures());
        assertEquals(count, load.answered());
        return load;
    }

    private static boolean hasApplied(MillraceProcess node, long last) throws IOException {
        Json present = fleet(node);
        return present.at("state").text().equals("connected")
                && present.at("applied").number() >= last;
    }

    @Test
    void delayOfAPurgeOnOtherNodes() throws Exception {
        long[] nanos = new long[ROUNDS];
        try (RawClient first = RawClient.connect(nodes.get(0).port());
                RawClient second = RawClient.connect(nodes.get(1).port());
                RawClient third = RawClient.connect(nodes.get(2).port())) {
            for (int round = 0; round < ROUNDS; round++) {
                origin.serves("/page", "version " + round, FRESH);
                first.send("PURGE /page HTTP/1.1\r\nHost: site.example\r\n\r\n");
                int status = first.response().status();
                assertTrue(status == 200 || status == 404, "status " + status);
                long answered = System.nanoTime();
                String expected = "version " + round;
                awaitPage(second, expected);
                awaitPage(third, expected);
                nanos[round] = System.nanoTime() - answered;
            }
        }
        for (int from = 0; from < ROUNDS; from += ROUNDS_OF_A_LINE) {
            printDelays(Arrays.copyOfRange(nanos, from, Math.min(ROUNDS, from + ROUNDS_OF_A_LINE)), from);
        }
    }

    private static void printDelays(long[] nanos, int from) {
        Arrays.sort(nanos);
        int count = nanos.length;
        System.out.println("from the answer until two other nodes have purged, " + count + " rounds from " + from
                + ", ms: p50 " + millis(nanos[count / 2]) + ", p99 " + millis(nanos[count - 1 - count / 100])
                + ", maximum " + millis(nanos[count - 1]));
    }

    /**
     * Requests the page each millisecond. Requests without a pause would take the processors that the nodes need for
     * the purge.
     */
    private static void awaitPage(RawClient client, String expected) {
        await().pollInSameThread()
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(1))
                .atMost(LIMIT)
                .until(() -> get(client, "/page").equals(expected));
    }

    private static double millis(long nanos) {
        return nanos / 1e6;
    }

    @Test
    void noPurgeOfALongLoadIsLost() throws Exception {
        int count = PER_SECOND * SECONDS;
        long before = fleet(nodes.get(0)).at("stream_last").number();
        PurgeLoad load = load(count, PER_SECOND);
        long ended = System.nanoTime();
        for (MillraceProcess node : nodes) {
            await().atMost(LIMIT).until(() -> hasApplied(node, before + count));
        }
        System.out.println(load + "; applied by all " + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - ended)
                + " ms after the last answer");
        await().atMost(LIMIT).until(() -> fleet(nodes.get(0)).at("outbox_bytes").number() == 0);
        for (MillraceProcess node : nodes) {
            assertEquals(before + count, fleet(node).at("stream_last").number());
        }
    }

    @Test
    void aNodeThatWasAwayServesNothingOld() throws Exception {
        origin.serves("/page", "first", FRESH);
        try (RawClient client = RawClient.connect(nodes.get(2).port())) {
            assertEquals("first", get(client, "/page"));
        }
        MillraceProcess away = nodes.get(2);
        away.stop();
        long before = fleet(nodes.get(0)).at("stream_last").number();
        PurgeLoad load = load(MISSED, 0);
        origin.serves("/page", "second", FRESH);
        nodes.get(0).millctl("purge", "http://site.example/page", "--wait").succeeds();
        System.out.println(load);
        long begun = System.nanoTime();
        MillraceProcess node = launch(2).state(away.state()).port(away.port()).start();
        await().atMost(LIMIT)
                .pollInterval(Duration.ofMillis(10))
                .until(() -> fleet(node).at("state").text().equals("connected"));
        long connected = System.nanoTime();
        long current = 0;
        try (RawClient client = RawClient.connect(node.port())) {
            while (!hasApplied(node, before + MISSED + 1)) {
                boolean isOld = get(client, "/page").equals("first");
                assertTrue(!isOld || current == 0, "an old response after a current one");
                current = isOld ? 0 : current == 0 ? System.nanoTime() : current;
            }
            long applied = System.nanoTime();
            assertEquals("second", get(client, "/page"));
            System.out.println(MISSED + " missed purges: connected "
                    + TimeUnit.NANOSECONDS.toMillis(connected - begun) + " ms after the start, first current response "
                    + TimeUnit.NANOSECONDS.toMillis(Math.max(0, current - connected)) + " ms later, all applied "
                    + TimeUnit.NANOSECONDS.toMillis(applied - connected) + " ms after the connection");
        }
    }
}
