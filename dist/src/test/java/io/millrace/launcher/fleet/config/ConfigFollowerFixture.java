package io.millrace.launcher.fleet.config;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.launcher.history.TrafficSample;
import io.millrace.proxy.admin.fleet.FleetConfigSource;
import io.millrace.proxy.admin.fleet.FleetConfigSource.PushReport;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.config.problem.ConfigDocument.Pushed;
import io.millrace.proxy.observe.event.Event;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Three nodes in memory that share a configuration, with a manual clock. */
abstract class ConfigFollowerFixture {
    @TempDir
    Path directory;

    final FakeStore store = new FakeStore();
    final Map<String, Node> nodes = new LinkedHashMap<>();
    final List<Event> events = new ArrayList<>();
    KeyPair keys;
    KeyPair otherKeys;
    long now = 1_000_000;

    /** A node whose configuration is a text, with figures that the test sets. */
    final class Node implements ConfigTargets, ConfigPushes.Fleet {
        final String name;
        final ConfigState state = new ConfigState(events::add, () -> now);
        final List<String> applied = new ArrayList<>();
        String metrics = "";
        boolean up = true;
        /** Whether the node, which other nodes hear, takes part in the configuration of the fleet. */
        boolean shares = true;
        /** Whether the worker answers with its figures. */
        boolean hasFigures = true;
        /** A failure of this node that says nothing about the revision; null for none. */
        @Nullable
        Exception failure;

        /** A text that this node cannot apply. */
        String impossible = "impossible";

        @Nullable
        Pushed inForce;

        ConfigFollower follower;
        final ConfigPushes pushes = new ConfigPushes(this, state, () -> now += ConfigFollower.POLL_MILLIS);

        Node(String name) throws IOException {
            this.name = name;
            start();
        }

        void start() throws IOException {
            follower = new ConfigFollower(
                    "cdn",
                    name,
                    store,
                    keys.getPublic(),
                    KeptRevision.open(directory.resolve(name)),
                    this,
                    this::figures,
                    new ConfigFollower.Members() {
                        @Override
                        public boolean isFirst() {
                            return name.equals(nodes.values().stream()
                                    .filter(node -> node.up)
                                    .findFirst()
                                    .orElseThrow()
                                    .name);
                        }

                        @Override
                        public long newest() {
                            return Node.this.newest();
                        }
                    },
                    state);
            pushes.access(new ConfigPushes.Access("cdn", store, keys.getPublic(), this));
        }

        private TrafficSample figures() throws IOException {
            if (!hasFigures) {
                throw new IOException("the worker does not answer");
            }
            return TrafficSample.of("w", metrics);
        }

        @Override
        public long revision() {
            return inForce == null ? 0 : inForce.revision();
        }

        @Override
        public CompletionStage<List<String>> check(Pushed pushed) {
            return CompletableFuture.completedFuture(
                    pushed.text().contains("wrong") ? List.of(pushed.name() + ":1:1: x: unknown key") : List.of());
        }

        @Override
        public CompletionStage<List<String>> apply(long revision, @Nullable Pushed pushed) {
            if (failure != null) {
                return CompletableFuture.failedFuture(failure);
            }
            if (pushed != null && pushed.text().equals(impossible)) {
                return CompletableFuture.completedFuture(List.of("the environment variable X is not set"));
            }
            inForce = pushed;
            applied.add(revision + " " + (pushed == null ? "-" : pushed.text()));
            return CompletableFuture.completedFuture(List.of());
        }

        @Override
        public String name() {
            return "cdn";
        }

        @Override
        public String node() {
            return name;
        }

        @Override
        public boolean isOn() {
            return true;
        }

        @Override
        public String problem() {
            return "";
        }

        @Override
        public List<FleetConfigSource.Node> nodes() {
            return nodes.values().stream()
                    .map(node -> new FleetConfigSource.Node(
                            node.name,
                            "edge",
                            node.up ? "live" : "away",
                            node.state.nodeState().revision(),
                            node.state.nodeState().newest(),
                            node.state.nodeState().state(),
                            node.state.nodeState().reason()))
                    .toList();
        }

        @Override
        public long newest() {
            return ConfigFollowerFixture.this.nodes.values().stream()
                    .filter(node -> node.up)
                    .mapToLong(node -> node.state.nodeState().newest())
                    .max()
                    .orElse(0);
        }
    }

    @BeforeEach
    void startNodes() throws Exception {
        keys = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
        otherKeys = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
        for (String name : List.of("n1", "n2", "n3")) {
            nodes.put(name, new Node(name));
        }
    }

    void run(long millis) throws Exception {
        for (long end = now + millis; now < end; now += 100) {
            for (Node node : nodes.values()) {
                if (node.up && node.shares) {
                    node.follower.step(now);
                }
            }
        }
    }

    static String sign(String text, KeyPair by) throws Exception {
        Signature signer = Signature.getInstance("Ed25519");
        signer.initSign(by.getPrivate());
        signer.update(text.getBytes(StandardCharsets.UTF_8));
        return Base64.getEncoder().encodeToString(signer.sign());
    }

    static RevisionStatement statement(
            long revision, String content, long restores, List<String> canary, List<Guard> guards) {
        return new RevisionStatement("cdn", revision, content, restores, canary, 60, guards, "2026-11-29", "me");
    }

    static String hash(String text) {
        return RevisionStore.hash(text.getBytes(StandardCharsets.UTF_8));
    }

    static void upload(Node node, String text) throws AdminException {
        byte[] zip = RevisionStore.compressed(text.getBytes(StandardCharsets.UTF_8));
        node.pushes.part(hash(text), 0, Arrays.copyOf(zip, 7));
        node.pushes.part(hash(text), 1, Arrays.copyOfRange(zip, 7, zip.length));
    }

    PushReport push(String text, List<String> canary, String... guards) throws Exception {
        Node node = nodes.get("n1");
        FleetConfigSource.Status status = node.pushes.status();
        List<Guard> conditions = new ArrayList<>();
        for (String guard : guards) {
            conditions.add(Guard.parse(guard));
        }
        upload(node, text);
        String pushed =
                statement(status.next(), hash(text), 0, canary, conditions).text();
        String fallback = canary.isEmpty()
                ? ""
                : statement(status.next() + 1, status.content(), status.newest(), List.of(), List.of())
                        .text();
        return send(node, pushed, fallback, keys);
    }

    static PushReport send(Node node, String pushed, String fallback, KeyPair by) throws Exception {
        return node.pushes
                .push(new FleetConfigSource.Push(
                        pushed, sign(pushed, by), fallback, fallback.isEmpty() ? "" : sign(fallback, by)))
                .toCompletableFuture()
                .join();
    }

    void assertInForce(String text, String... names) {
        for (String name : names) {
            Pushed inForce = nodes.get(name).inForce;
            assertEquals(text, inForce == null ? "-" : inForce.text(), name);
        }
    }

    static String metrics(int hits, int requests) {
        return "millrace_requests_total{cache=\"hit\"} " + hits + ".0\n" + "millrace_requests_total{cache=\"miss\"} "
                + (requests - hits) + ".0\n";
    }
}
