package io.millrace.system;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nats.client.Connection;
import io.nats.client.JetStreamApiException;
import io.nats.client.Nats;
import io.nats.client.Options;
import io.nats.client.api.ClusterInfo;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three packed nodes with a cluster of three NATS servers, which are killed one at a time. Purges and pushes of
 * configurations go on meanwhile. A purge that was answered reaches every node. A revision whose push was answered is
 * in force on every node at the end, or one with a higher number.
 */
@Tag("nightly")
@Timeout(600)
class FleetClusterTest {
    private static final int SERVERS = 3;
    private static final int NODES = 3;
    private static final int PAGES = 8;
    private static final int ROUNDS = Integer.getInteger("millrace.fleet.rounds", 6);
    private static final Duration LIMIT = Duration.ofSeconds(90);

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

    @TempDir
    Path directory;

    private final List<NatsServer> servers = new ArrayList<>();
    private final List<MillraceProcess> nodes = new ArrayList<>();
    private final AtomicIntegerArray versions = new AtomicIntegerArray(PAGES);
    /** The versions of the last purges that were answered. */
    private final AtomicIntegerArray purged = new AtomicIntegerArray(PAGES);

    private final AtomicBoolean isOver = new AtomicBoolean();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    /** The contents of pushes that were answered, by revision. */
    private final TreeMap<Long, Integer> answered = new TreeMap<>();

    private int pushes;
    private FleetKeyPair keys;

    @AfterEach
    void stopServers() {
        isOver.set(true);
        servers.forEach(NatsServer::close);
    }

    private void startServers() throws IOException {
        int[] ports = IntStream.range(0, SERVERS).map(i -> FreePorts.next()).toArray();
        String routes = String.join(
                ",",
                IntStream.of(ports).mapToObj(port -> "nats://127.0.0.1:" + port).toList());
        for (int i = 0; i < SERVERS; i++) {
            servers.add(NatsServer.start(
                    directory.resolve("nats" + i),
                    "--name",
                    "s" + i,
                    "--cluster_name",
                    "test",
                    "--cluster",
                    "nats://127.0.0.1:" + ports[i],
                    "--routes",
                    routes));
        }
    }

    private void startNodes() throws IOException {
        keys = FleetKeyPair.in(directory);
        List<String> urls =
                servers.stream().map(server -> '"' + server.url() + '"').toList();
        for (int page = 0; page < PAGES; page++) {
            serve(page);
        }
        for (int i = 0; i < NODES; i++) {
            nodes.add(product.launch()
                    .origin(origin.url())
                    .shortWarmUp()
                    .set("purge.allow", "127.0.0.1")
                    .set("fleet.name", "cdn")
                    .set("fleet.servers", urls.toString())
                    .set("fleet.replicas", "3")
                    .set("fleet.node", "n" + i)
                    .set("fleet.config_public_key_file", keys.publicKey().toString())
                    .start());
        }
        for (MillraceProcess node : nodes) {
            await().atMost(LIMIT).until(() -> liveNodes(node) == NODES);
        }
    }

    private static Json status(MillraceProcess node) throws IOException {
        return node.admin().get("/v1/fleet/config").json();
    }

    private static long liveNodes(MillraceProcess node) throws IOException {
        return status(node).at("nodes").elements().stream()
                .filter(one -> one.at("connection").text().equals("live"))
                .count();
    }

    private void serve(int page) {
        origin.serves("/p" + page, Integer.toString(versions.get(page)), "Cache-Control: max-age=86400");
    }

    private static String get(MillraceProcess node, String host, String path) throws IOException {
        try (RawClient client = RawClient.connect(node.port())) {
            return client.send("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n")
                    .response()
                    .text();
        }
    }

    private void purge(Random random) throws IOException {
        int page = random.nextInt(PAGES);
        MillraceProcess node = nodes.get(random.nextInt(NODES));
        get(nodes.get(random.nextInt(NODES)), "site.example", "/p" + page);
        int version = versions.incrementAndGet(page);
        serve(page);
        try (RawClient client = RawClient.connect(node.port())) {
            int status = client.send("PURGE /p" + page + " HTTP/1.1\r\nHost: site.example\r\n\r\n")
                    .response()
                    .status();
            assertTrue(status == 200 || status == 404, "status of a purge: " + status);
        }
        purged.set(page, version);
    }

    private Thread purging(long seed) {
        Thread thread = new Thread(
                () -> {
                    Random random = new Random(seed);
                    try {
                        while (!isOver.get()) {
                            purge(random);
                        }
                    } catch (IOException | AssertionError | RuntimeException e) {
                        failure.set(e);
                    }
                },
                "purges");
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    /** Pushes another configuration. Returns true if the push was answered with success. */
    private boolean push(MillraceProcess node) {
        int content = ++pushes;
        origin.serves("/c" + content, "content " + content, "Cache-Control: no-store");
        String yaml = "remap:\n- {map: http://site.example/, to: '" + origin.url()
                + "/'}\n- {map: http://conf.example/, to: '" + origin.url() + "/c" + content + "'}\n";
        try {
            Path file = Files.writeString(directory.resolve("site.yaml"), yaml);
            Command push = node.millctl(
                    "fleet",
                    "config",
                    "push",
                    file.toString(),
                    "--key",
                    keys.privateKey().toString(),
                    "-o",
                    "json");
            if (push.exitCode() != 0) {
                return false;
            }
            answered.put(push.json().at("revision").number(), content);
            return true;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns true if every server has every message of a stream. */
    private boolean isReplicated(String stream) throws InterruptedException {
        String[] urls = servers.stream().map(NatsServer::url).toArray(String[]::new);
        Connection connection;
        try {
            connection =
                    Nats.connect(Options.builder().servers(urls).noReconnect().build());
        } catch (IOException e) {
            return false;
        }
        try {
            ClusterInfo cluster =
                    connection.jetStreamManagement().getStreamInfo(stream).getClusterInfo();
            return cluster != null
                    && cluster.getReplicas().size() == SERVERS - 1
                    && cluster.getReplicas().stream().allMatch(replica -> replica.isCurrent() && !replica.isOffline());
        } catch (IOException | JetStreamApiException e) {
            return false;
        } finally {
            connection.close();
        }
    }

    private void awaitReplication() {
        for (String stream : List.of("MILLRACE_cdn", "KV_MILLRACE_cdn_config")) {
            await(stream).atMost(LIMIT).until(() -> isReplicated(stream));
        }
    }

    @Test
    void noAnswerIsLostWhileServersAreKilledOneAtATime() throws Exception {
        NatsServer.assumeInstalled();
        long seed = Long.getLong("millrace.fleet.seed", System.nanoTime());
        System.out.println("-Dmillrace.fleet.seed=" + seed);
        Random random = new Random(seed);
        startServers();
        startNodes();
        await().atMost(LIMIT).until(() -> push(nodes.get(0)));
        Thread purges = purging(seed);
        int killed = random.nextInt(SERVERS);
        for (int round = 0; round < ROUNDS; round++) {
            awaitReplication();
            killed = (killed + 1 + random.nextInt(SERVERS - 1)) % SERVERS;
            servers.get(killed).kill();
            // The first push may fail, because the servers elect a leader.
            push(nodes.get(random.nextInt(NODES)));
            MillraceProcess node = nodes.get(random.nextInt(NODES));
            await().atMost(LIMIT).until(() -> push(node));
            servers.get(killed).start();
        }
        isOver.set(true);
        purges.join();
        assertEquals(null, failure.get());
        awaitReplication();
        checkConfigurations();
        checkPurges();
        System.out.println(purged + " purges by page; " + pushes + " pushes, " + answered.size() + " answered");
    }

    private void checkConfigurations() {
        long last = answered.lastKey();
        int content = answered.get(last);
        for (MillraceProcess node : nodes) {
            await("revision " + last)
                    .atMost(LIMIT)
                    .until(() -> status(node).at("revision").number() >= last);
            await("content " + content + " or a later one").atMost(LIMIT).until(() -> {
                String served = get(node, "conf.example", "/");
                return Integer.parseInt(served.replace("content ", "")) >= content;
            });
        }
        await("a push after the last start").atMost(LIMIT).until(() -> push(nodes.get(0)));
        String expected = "content " + answered.lastEntry().getValue();
        for (MillraceProcess node : nodes) {
            await(expected).atMost(LIMIT).until(() -> get(node, "conf.example", "/")
                    .equals(expected));
        }
    }

    private void checkPurges() {
        for (MillraceProcess node : nodes) {
            for (int i = 0; i < PAGES; i++) {
                int page = i;
                await("page " + page + " of version " + purged.get(page))
                        .atMost(LIMIT)
                        .until(() -> {
                            int served = Integer.parseInt(get(node, "site.example", "/p" + page));
                            return served >= purged.get(page);
                        });
            }
        }
    }
}
