package io.millrace.system;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nats.client.Connection;
import io.nats.client.JetStreamManagement;
import io.nats.client.Nats;
import io.nats.client.api.StreamConfiguration;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random histories of three packed nodes, an origin whose pages have versions, and a real NATS server. Nodes, workers and
 * the server are killed, the server is stopped, and connections are lost or deliver nothing. In every second history, the
 * server also loses its data, and the stream is truncated and deleted. These statements hold:
 *
 * <ul>
 *   <li>a node never serves an older version than one whose purge it has answered, or reports as applied;
 *   <li>after the fleet reports a purge as complete, none of the named nodes serves an older version;
 *   <li>when everything runs again, every node serves the last purged version: no purge that was answered is lost;
 *   <li>while the server keeps its messages, no node reports a gap.
 * </ul>
 */
@Tag("nightly")
@Timeout(14_400)
class FleetHistoryTest {
    private static final int NODES = 3;
    private static final int PAGES = 6;
    private static final int STEPS = 60;
    /** The number of histories; more by hand: -Dmillrace.fleet.histories=200. */
    private static final int HISTORIES = Integer.getInteger("millrace.fleet.histories", 4);

    private static final Duration LIMIT = Duration.ofSeconds(90);
    private static final String STREAM = "MILLRACE_cdn";

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

    @TempDir
    Path directory;

    /** A node, with the lowest version of each page that it may serve. */
    private static final class Node {
        final String name;
        final int[] floors = new int[PAGES];
        final CutConnection connection;
        MillraceProcess process;
        boolean up = true;
        boolean delivers = true;

        Node(String name, CutConnection connection) {
            this.name = name;
            this.connection = connection;
        }
    }

    /**
     * A purge that was answered, with the versions of the pages that it covers.
     *
     * @param stream time of creation of the stream before the purge
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Purge(Node node, String id, int[] versions, String stream) {}

    /** The place of a purge in a stream, and the versions of the pages that it covers. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Placed(String stream, long sequence, int[] versions) {}

    private final int[] versions = new int[PAGES];
    /** The versions of the last answered purges. */
    private final int[] purged = new int[PAGES];

    private final List<Node> nodes = new ArrayList<>();
    private final List<Purge> pending = new ArrayList<>();
    private final Set<Placed> placed = new LinkedHashSet<>();
    private boolean keepsMessages;
    private int answered;
    private int completed;
    private final List<String> trace = new ArrayList<>();
    private NatsServer nats;
    private boolean serverUp = true;

    private void launch(Node node) {
        Launch launch = product.launch()
                .origin(origin.url())
                .shortWarmUp()
                .set("fleet.name", "cdn")
                .set("fleet.servers", "[\"nats://127.0.0.1:" + node.connection.port() + "\"]")
                .set("fleet.node", node.name);
        MillraceProcess before = node.process;
        node.process = before == null
                ? launch.start()
                : launch.state(before.state()).port(before.port()).start();
        node.up = true;
    }

    @Test
    void noNodeServesWhatWasPurged() throws Exception {
        NatsServer.assumeInstalled();
        long seed = Long.getLong("millrace.fleet.seed", System.nanoTime());
        try (NatsServer server = NatsServer.start(directory.resolve("nats"))) {
            nats = server;
            for (int page = 0; page < PAGES; page++) {
                serve(page);
            }
            for (int i = 0; i < NODES; i++) {
                Node node = new Node("n" + i, new CutConnection(nats.port()));
                nodes.add(node);
                launch(node);
            }
            awaitAllConnected();
            for (int i = 0; i < HISTORIES; i++) {
                trace.clear();
                trace.add("-Dmillrace.fleet.seed=" + (seed + i));
                try {
                    // Generators with adjacent seeds begin with similar numbers.
                    history(new Random((seed + i) * 0x9E37_79B9_7F4A_7C15L));
                } catch (AssertionError | RuntimeException e) {
                    throw new AssertionError(
                            String.join("\n", trace) + "\n"
                                    + nodes.stream()
                                            .map(node -> node.process.describe())
                                            .collect(Collectors.joining("\n")),
                            e);
                }
                System.out.println(String.join("; ", trace.get(0), trace.get(1), trace.get(trace.size() - 1)));
            }
        } finally {
            for (Node node : nodes) {
                node.connection.close();
            }
        }
    }

    private void awaitAllConnected() {
        nodes.forEach(node -> await(node.name + " is connected")
                .atMost(LIMIT)
                .until(() -> fleet(node).at("state").text().equals("connected")));
    }

    private static Json fleet(Node node) throws IOException {
        return node.process.admin().get("/v1/fleet").json();
    }

    private void serve(int page) {
        origin.serves("/p" + page, Integer.toString(versions[page]), "Cache-Control: max-age=3600");
    }

    private void history(Random random) throws Exception {
        keepsMessages = random.nextBoolean();
        answered = 0;
        completed = 0;
        trace.add(keepsMessages ? "the server keeps its messages" : "the server may lose messages");
        long gaps = gaps();
        for (int i = 0; i < STEPS; i++) {
            Node node = nodes.get(random.nextInt(NODES));
            int choice = random.nextInt(100);
            if (choice < 30) {
                purge(random, node, random.nextInt(PAGES));
            } else if (choice < 65) {
                check(node, random.nextInt(PAGES));
            } else if (choice < 80) {
                complete();
            } else if (choice < 85) {
                killOrStart(node, random.nextInt(3) == 0);
            } else if (choice < 91) {
                changeConnection(node, random.nextBoolean());
            } else if (choice < 96) {
                changeServer(random.nextInt(4));
            } else {
                changeStream(random.nextBoolean());
            }
        }
        heal();
        if (keepsMessages) {
            assertEquals(gaps, gaps(), "gaps although the server keeps its messages");
        }
    }

    /** Returns the number of gaps that all nodes have reported. */
    private long gaps() {
        return nodes.stream()
                .mapToLong(node -> node.process
                        .millctl("events", "--kind", "fleet-gap", "--since", "1d", "--limit", "1000")
                        .succeeds()
                        .out()
                        .lines()
                        .filter(line -> line.contains("fleet-gap"))
                        .count())
                .sum();
    }

    private void changeConnection(Node node, boolean resets) {
        if (resets) {
            trace.add("reset the connections of " + node.name);
            node.connection.reset();
            return;
        }
        node.delivers = !node.delivers;
        trace.add("the connections of " + node.name + (node.delivers ? " deliver" : " deliver nothing"));
        node.connection.deliver(node.delivers);
    }

    private void purge(Random random, Node node, int page) throws IOException {
        if (!node.up) {
            return;
        }
        String stream = fleet(node).at("stream_created").text();
        versions[page]++;
        serve(page);
        boolean whole = random.nextInt(4) == 0;
        String target = whole ? "\"host\":\"site.example\"" : "\"url\":\"http://site.example/p" + page + "\"";
        int[] covered = new int[PAGES];
        for (int other = 0; other < PAGES; other++) {
            covered[other] = whole || other == page ? versions[other] : 0;
        }
        String mode = random.nextBoolean() ? "soft" : "hard";
        AdminClient.Answer answer =
                node.process.admin().post("/v1/cache/purge", "{" + target + ",\"mode\":\"" + mode + "\"}");
        trace.add(node.name + " purges " + target + " at " + versions[page] + ": " + answer.status());
        assertEquals(200, answer.status(), answer::text);
        raise(node.floors, covered);
        raise(purged, covered);
        answered++;
        pending.add(new Purge(node, answer.json().at("id").text(), covered, stream));
    }

    private static void raise(int[] floors, int[] covered) {
        for (int page = 0; page < PAGES; page++) {
            floors[page] = Math.max(floors[page], covered[page]);
        }
    }

    /** Raises the floors of a node by the purges that it reports as applied. */
    private void raiseByPosition(Node node) throws IOException {
        Json present = fleet(node);
        String stream = present.at("stream_created").text();
        long applied = present.at("applied").number();
        for (Placed purge : placed) {
            if (purge.stream().equals(stream) && purge.sequence() <= applied) {
                raise(node.floors, purge.versions());
            }
        }
    }

    private int get(Node node, int page) throws IOException {
        try (RawClient client = RawClient.connect(node.process.port())) {
            return Integer.parseInt(client.send("GET /p" + page + " HTTP/1.1\r\nHost: site.example\r\n\r\n")
                    .response()
                    .text());
        }
    }

    private void check(Node node, int page) throws IOException {
        if (node.up) {
            raiseByPosition(node);
            int served = get(node, page);
            trace.add(node.name + " serves /p" + page + " at " + served);
            assertTrue(
                    served >= node.floors[page],
                    () -> node.name + " serves /p" + page + " at " + served + " after a purge at " + node.floors[page]);
        }
    }

    /** Asks for the nodes that have applied each purge. */
    private void complete() throws IOException {
        for (Purge purge : List.copyOf(pending)) {
            if (!purge.node().up) {
                continue;
            }
            Json spread = purge.node()
                    .process
                    .admin()
                    .get("/v1/fleet/purge?id=" + purge.id())
                    .json();
            long sequence = spread.at("sequence").number();
            String stream = fleet(purge.node()).at("stream_created").text();
            if (sequence > 0 && !stream.isEmpty() && stream.equals(purge.stream())) {
                placed.add(new Placed(stream, sequence, purge.versions()));
            }
            if (!spread.at("state").text().equals("complete")) {
                continue;
            }
            List<String> applied =
                    spread.at("applied").elements().stream().map(Json::text).toList();
            trace.add(purge.id() + " is complete: " + applied);
            nodes.stream()
                    .filter(node -> applied.contains(node.name))
                    .forEach(node -> raise(node.floors, purge.versions()));
            pending.remove(purge);
            completed++;
        }
    }

    private void killOrStart(Node node, boolean workerOnly) throws Exception {
        if (!node.up) {
            trace.add("start " + node.name);
            launch(node);
        } else if (workerOnly) {
            trace.add("kill the worker of " + node.name);
            long worker = node.process.worker().pid();
            node.process.killWorker();
            node.process.awaitWorkerAfter(worker);
        } else {
            trace.add("kill " + node.name);
            ProcessHandle worker = node.process.worker();
            node.process.killLauncher();
            worker.destroyForcibly();
            worker.onExit().get(30, TimeUnit.SECONDS);
            node.up = false;
            pending.removeIf(purge -> purge.node() == node);
        }
    }

    private void changeServer(int choice) throws Exception {
        if (!serverUp) {
            trace.add("start the server");
            nats.start();
            serverUp = true;
            return;
        }
        switch (choice) {
            case 0 -> {
                trace.add("stop the server's execution");
                nats.pause();
                awaitConnection("disconnected");
                nats.resume();
            }
            case 1 -> {
                trace.add(keepsMessages ? "kill the server" : "the server loses its data");
                nats.kill();
                if (!keepsMessages) {
                    nats.loseData();
                }
                serverUp = false;
            }
            case 2 -> {
                trace.add("kill the server");
                nats.kill();
                serverUp = false;
            }
            default -> awaitConnection("connected");
        }
    }

    private void awaitConnection(String state) {
        trace.add("wait until a node is " + state);
        nodes.stream().filter(node -> node.up && node.delivers).findFirst().ifPresent(node -> await().atMost(LIMIT)
                .until(() -> fleet(node).at("state").text().equals(state)));
    }

    private void changeStream(boolean deletes) throws Exception {
        if (!serverUp || keepsMessages) {
            return;
        }
        Connection connection = Nats.connect(nats.url());
        try {
            JetStreamManagement streams = connection.jetStreamManagement();
            if (!streams.getStreamNames().contains(STREAM)) {
                return;
            }
            if (deletes) {
                trace.add("delete the stream");
                streams.deleteStream(STREAM);
                return;
            }
            trace.add("truncate the stream");
            StreamConfiguration before = streams.getStreamInfo(STREAM).getConfiguration();
            streams.updateStream(
                    StreamConfiguration.builder(before).maxMessages(1).build());
            streams.updateStream(
                    StreamConfiguration.builder(before).maxMessages(-1).build());
        } finally {
            connection.close();
        }
    }

    /** Starts everything, and waits until every node serves the last version of every page. */
    private void heal() throws Exception {
        if (!serverUp) {
            nats.start();
            serverUp = true;
        }
        for (Node node : nodes) {
            node.delivers = true;
            node.connection.deliver(true);
            if (!node.up) {
                killOrStart(node, false);
            }
        }
        long healed = System.nanoTime();
        for (Node node : nodes) {
            await(node.name + " has the last versions " + Arrays.toString(purged))
                    .atMost(LIMIT)
                    .until(() -> isCurrent(node));
        }
        String agreed =
                "all agree " + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - healed) + " ms after the last start";
        for (Node node : nodes) {
            raise(node.floors, purged);
            await(node.name + " has published everything").atMost(LIMIT).until(() -> outbox(node) == 0);
        }
        awaitAllConnected();
        complete();
        pending.clear();
        trace.add(agreed + "; " + answered + " purges answered, " + completed + " reported as complete");
    }

    private boolean isCurrent(Node node) throws IOException {
        for (int page = 0; page < PAGES; page++) {
            int served = get(node, page);
            assertTrue(served >= node.floors[page], () -> node.name + " serves an older version");
            if (served < purged[page]) {
                return false;
            }
        }
        return true;
    }

    private static long outbox(Node node) throws IOException {
        return fleet(node).at("outbox_bytes").number();
    }
}
