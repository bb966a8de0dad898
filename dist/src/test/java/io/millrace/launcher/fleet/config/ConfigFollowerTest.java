package io.millrace.launcher.fleet.config;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.history.TrafficSample;
import io.millrace.proxy.admin.fleet.FleetConfigSource;
import io.millrace.proxy.admin.fleet.FleetConfigSource.PushReport;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.config.fleet.FleetConfig;
import io.millrace.proxy.config.problem.ConfigDocument.Pushed;
import io.millrace.proxy.observe.event.Event;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
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
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests pushes, canaries and refusals with nodes in memory and a manual clock. */
class ConfigFollowerTest {
    @TempDir
    Path directory;

    private final FakeStore store = new FakeStore();
    private final Map<String, Node> nodes = new LinkedHashMap<>();
    private final List<Event> events = new ArrayList<>();
    private KeyPair keys;
    private KeyPair otherKeys;
    private long now = 1_000_000;

    /** A node whose configuration is a text, with figures that the test sets. */
    private final class Node implements ConfigTargets, ConfigPushes.Fleet {
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
            return ConfigFollowerTest.this.nodes.values().stream()
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

    private void run(long millis) throws Exception {
        for (long end = now + millis; now < end; now += 100) {
            for (Node node : nodes.values()) {
                if (node.up && node.shares) {
                    node.follower.step(now);
                }
            }
        }
    }

    private static String sign(String text, KeyPair by) throws Exception {
        Signature signer = Signature.getInstance("Ed25519");
        signer.initSign(by.getPrivate());
        signer.update(text.getBytes(StandardCharsets.UTF_8));
        return Base64.getEncoder().encodeToString(signer.sign());
    }

    private static RevisionStatement statement(
            long revision, String content, long restores, List<String> canary, List<Guard> guards) {
        return new RevisionStatement("cdn", revision, content, restores, canary, 60, guards, "2026-11-29", "me");
    }

    private static String hash(String text) {
        return RevisionStore.hash(text.getBytes(StandardCharsets.UTF_8));
    }

    private static void upload(Node node, String text) throws AdminException {
        byte[] zip = RevisionStore.compressed(text.getBytes(StandardCharsets.UTF_8));
        node.pushes.part(hash(text), 0, Arrays.copyOf(zip, 7));
        node.pushes.part(hash(text), 1, Arrays.copyOfRange(zip, 7, zip.length));
    }

    private PushReport push(String text, List<String> canary, String... guards) throws Exception {
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

    private static PushReport send(Node node, String pushed, String fallback, KeyPair by) throws Exception {
        return node.pushes
                .push(new FleetConfigSource.Push(
                        pushed, sign(pushed, by), fallback, fallback.isEmpty() ? "" : sign(fallback, by)))
                .toCompletableFuture()
                .join();
    }

    private void assertInForce(String text, String... names) {
        for (String name : names) {
            Pushed inForce = nodes.get(name).inForce;
            assertEquals(text, inForce == null ? "-" : inForce.text(), name);
        }
    }

    private static String metrics(int hits, int requests) {
        return "millrace_requests_total{cache=\"hit\"} " + hits + ".0\n" + "millrace_requests_total{cache=\"miss\"} "
                + (requests - hits) + ".0\n";
    }

    @Test
    void aPushReachesEveryNodeAndARollbackIsANewRevision() throws Exception {
        assertEquals(new PushReport(true, 1, "all", List.of()), push("one", List.of()));
        run(6000);
        assertInForce("one", "n1", "n2", "n3");
        assertTrue(push("two", List.of()).ok());
        run(6000);
        assertInForce("two", "n1", "n2", "n3");
        // The content of a rollback is not sent again.
        String rollback = statement(3, hash("one"), 1, List.of(), List.of()).text();
        assertTrue(send(nodes.get("n2"), rollback, "", keys).ok());
        run(6000);
        assertInForce("one", "n1", "n2", "n3");
        assertEquals(List.of("1 one", "2 two", "3 one"), nodes.get("n3").applied);
        List<FleetConfigSource.Revision> history = nodes.get("n1").pushes.history();
        assertEquals(3, history.size());
        assertEquals(1, history.get(2).restores());
        assertTrue(history.get(2).isCurrent());
    }

    @Test
    void aNodeRejectsWhatItCannotApplyAndKeepsTheLastGood() throws Exception {
        push("one", List.of());
        run(6000);
        nodes.get("n2").impossible = "two";
        push("two", List.of());
        run(6000);
        assertInForce("two", "n1", "n3");
        assertInForce("one", "n2");
        NodeConfigState nodeState = nodes.get("n2").state.nodeState();
        assertEquals(new NodeConfigState(1, 2, "rejected", "the environment variable X is not set"), nodeState);
        assertNotNull(nodes.get("n2").state.alarm("cdn"));
        // After a reload of the local file, the node tries again.
        nodes.get("n2").impossible = "";
        nodes.get("n2").follower.retry();
        run(1000);
        assertInForce("two", "n2");
        assertNull(nodes.get("n2").state.alarm("cdn"));
    }

    @Test
    void afterALossOfTheServersThePushContinuesAboveTheHighestNumber() throws Exception {
        push("one", List.of());
        run(6000);
        store.lose();
        run(6000);
        assertInForce("one", "n1", "n2", "n3");
        assertEquals("none", nodes.get("n1").pushes.status().stage());
        // Without the revision before it, a failed canary would fall back to the local file.
        CompletionException refused = assertThrows(CompletionException.class, () -> push("two", List.of("n2")));
        assertTrue(refused.getCause() instanceof AdminException);
        assertEquals(new PushReport(true, 2, "all", List.of()), push("two", List.of()));
        run(6000);
        assertInForce("two", "n1", "n2", "n3");
        assertEquals("canary", push("three", List.of("n2")).stage());
    }

    /** The first push into a new bucket gets the same version as the first push into the lost one. */
    @Test
    void anEntryWithTheVersionOfALostEntryIsRead() throws Exception {
        push("one", List.of());
        run(6000);
        store.lose();
        push("two", List.of());
        run(6000);
        assertInForce("two", "n1", "n2", "n3");
    }

    @Test
    void aNodeThatWasAwayAppliesTheNewestAndKeepsTheLastGoodAcrossRestarts() throws Exception {
        push("one", List.of());
        run(6000);
        Node away = nodes.get("n3");
        away.up = false;
        push("two", List.of());
        push("three", List.of());
        run(6000);
        FleetConfig settings = settings();
        assertEquals(new Pushed(1, "one"), KeptRevision.lastGood(directory.resolve("n3"), settings));
        away.start();
        away.up = true;
        run(6000);
        assertEquals(List.of("1 one", "3 three"), away.applied);
        assertEquals(new Pushed(3, "three"), KeptRevision.lastGood(directory.resolve("n3"), settings));
    }

    private FleetConfig settings() throws IOException {
        Path key = Files.writeString(
                directory.resolve("key.pub"),
                "-----BEGIN PUBLIC KEY-----\n"
                        + Base64.getMimeEncoder()
                                .encodeToString(keys.getPublic().getEncoded())
                        + "\n-----END PUBLIC KEY-----\n");
        return new FleetConfig(
                "cdn",
                List.of("nats://h"),
                "n3",
                "edge",
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                FleetConfig.OnGap.VALIDATE,
                1,
                1L << 20,
                key);
    }

    @Test
    void theKeptFileOfAnotherKeyIsRefused() throws Exception {
        push("one", List.of());
        run(6000);
        Path kept = directory.resolve("n3");
        Files.writeString(kept.resolve("config-1.yaml"), "two");
        FleetConfig settings = settings();
        assertThrows(RefusedRevisionException.class, () -> KeptRevision.lastGood(kept, settings));
        Files.writeString(kept.resolve("config-1.yaml"), "one");
        keys = otherKeys;
        FleetConfig otherKey = settings();
        assertThrows(RefusedRevisionException.class, () -> KeptRevision.lastGood(kept, otherKey));
        Files.writeString(kept.resolve("config.json"), "{");
        assertThrows(IOException.class, () -> KeptRevision.open(kept));
    }

    @Test
    void aCanaryThatPassesReachesTheOthersAfterItsTime() throws Exception {
        push("one", List.of());
        run(6000);
        assertEquals(
                "canary", push("two", List.of("n2"), "hit_ratio>80", "errors<1").stage());
        run(6000);
        assertInForce("two", "n2");
        assertInForce("one", "n1", "n3");
        assertEquals(
                "waits for the canary on n2", nodes.get("n1").state.nodeState().reason());
        nodes.get("n2").metrics = metrics(90, 100);
        run(50_000);
        assertInForce("one", "n1", "n3");
        run(15_000);
        assertInForce("two", "n1", "n2", "n3");
        assertEquals(
                new NodeConfigState(2, 2, "applied", ""), nodes.get("n1").state.nodeState());
        // The number of the fallback is not used again.
        assertEquals(4, nodes.get("n1").pushes.status().next());
    }

    @Test
    void aCanaryThatFailsIsRolledBackAndSaysWhichFigureDecided() throws Exception {
        push("one", List.of());
        run(6000);
        nodes.get("n2").metrics = metrics(1000, 1000);
        push("two", List.of("n2"), "hit_ratio>80");
        run(6000);
        // Only the requests since the application count: 50 of 100 are hits.
        nodes.get("n2").metrics = metrics(1050, 1100);
        run(65_000);
        assertInForce("one", "n1", "n2", "n3");
        assertEquals(List.of("1 one", "2 two", "3 one"), nodes.get("n2").applied);
        FleetConfigSource.Status status = nodes.get("n1").pushes.status();
        assertEquals(2, status.failed());
        assertEquals("n2: hit_ratio is 50, the guard is hit_ratio>80", status.reason());
        assertEquals(3, nodes.get("n3").state.nodeState().revision());
        assertNotNull(nodes.get("n3").state.alarm("cdn"));
        FleetConfigSource.Revision failed = nodes.get("n1").pushes.history().get(1);
        assertEquals(status.reason(), failed.failure());
        push("four", List.of());
        run(6000);
        assertNull(nodes.get("n3").state.alarm("cdn"));
        assertInForce("four", "n1", "n2", "n3");
    }

    @Test
    void aCanaryThatRejectsFailsAtOnceAndTheFirstOneFallsBackToTheLocalFile() throws Exception {
        nodes.get("n3").impossible = "one";
        push("one", List.of("n2", "n3"));
        run(6000);
        assertInForce("-", "n1", "n2", "n3");
        assertEquals(
                "n3: rejected the revision: the environment variable X is not set",
                nodes.get("n1").pushes.status().reason());
        assertEquals("applied", nodes.get("n2").state.nodeState().state());
    }

    @Test
    void theNodesDecideWithoutTheNodeThatPushedAndWithoutASilentCanary() throws Exception {
        push("one", List.of());
        run(6000);
        push("two", List.of("n2"));
        nodes.get("n1").up = false;
        run(70_000);
        assertInForce("two", "n2", "n3");
        nodes.get("n1").up = true;
        run(6000);
        assertInForce("two", "n1");
        push("three", List.of("n3"));
        run(6000);
        nodes.get("n3").up = false;
        run(140_000);
        assertEquals("canary", nodes.get("n1").pushes.status().stage());
        run(15_000);
        assertInForce("two", "n1", "n2");
        assertEquals(
                "n3: no verdict within 150 s", nodes.get("n1").pushes.status().reason());
        nodes.get("n3").up = true;
        run(6000);
        assertInForce("two", "n3");
    }

    @Test
    void aRollbackEndsACanaryAndAnotherPushDoesNot() throws Exception {
        push("one", List.of());
        run(6000);
        push("two", List.of("n2"));
        run(2000);
        CompletionException refused = assertThrows(CompletionException.class, () -> push("three", List.of()));
        assertTrue(
                String.valueOf(((AdminException) refused.getCause()).message()).contains("is being tried"));
        String rollback = statement(4, hash("one"), 1, List.of(), List.of()).text();
        assertTrue(send(nodes.get("n1"), rollback, "", keys).ok());
        run(6000);
        assertInForce("one", "n1", "n2", "n3");
        run(100_000);
        assertInForce("one", "n1", "n2", "n3");
    }

    @Test
    void wrongPushesAreRefused() throws Exception {
        Node node = nodes.get("n1");
        upload(node, "one");
        String good = statement(1, hash("one"), 0, List.of(), List.of()).text();
        assertEquals(
                List.of("the signature of revision 1 is wrong: it was made with another key than"
                        + " fleet.config_public_key_file, or for another text"),
                send(node, good, "", otherKeys).problems());
        assertTrue(node.pushes
                .push(new FleetConfigSource.Push(good, "", "", ""))
                .toCompletableFuture()
                .join()
                .problems()
                .get(0)
                .contains("is not signed"));
        String other = good.replace("fleet cdn", "fleet dev");
        assertTrue(send(node, other, "", keys).problems().get(0).contains("is of fleet 'dev'"));
        assertTrue(send(node, "nonsense", "", keys).problems().get(0).contains("malformed"));
        CompletionException late = assertThrows(
                CompletionException.class,
                () -> send(
                        node, statement(7, hash("one"), 0, List.of(), List.of()).text(), "", keys));
        assertTrue(((AdminException) late.getCause()).message().contains("the next revision is 1"));
        upload(node, "wrong");
        assertEquals(
                List.of("fleet://config/1:1:1: x: unknown key"),
                send(node, statement(1, hash("wrong"), 0, List.of(), List.of()).text(), "", keys)
                        .problems());
        assertTrue(
                send(node, statement(1, hash("absent"), 0, List.of(), List.of()).text(), "", keys)
                        .problems()
                        .get(0)
                        .contains("do not have the content"));
        CompletionException unknown = assertThrows(CompletionException.class, () -> push("one", List.of("n9")));
        assertTrue(((AdminException) unknown.getCause()).message().contains("'n9' is not live"));
        String canary = statement(1, hash("one"), 0, List.of("n2"), List.of()).text();
        assertTrue(
                send(node, canary, statement(3, "none", 0, List.of(), List.of()).text(), keys)
                        .problems()
                        .get(0)
                        .contains("must be the next revision"));
        run(6000);
        assertTrue(node.applied.isEmpty());
    }

    /** The nodes refuse heads that a member of the fleet has written without the private key. */
    @Test
    void forgedAndOldHeadsAreRefusedByTheNodes() throws Exception {
        push("one", List.of());
        run(6000);
        byte[] first = store.entries.get(ConfigHead.KEY).value();
        push("two", List.of());
        run(6000);
        store.put(ConfigHead.KEY, first);
        run(6000);
        assertInForce("two", "n1", "n2", "n3");
        assertEquals(Map.of("older", 1L), nodes.get("n1").state.refused());
        ConfigHead head = ConfigHead.read(first);
        SignedRevision forged =
                new SignedRevision(statement(9, hash("one"), 0, List.of(), List.of()), sign("other", keys));
        store.put(ConfigHead.KEY, new ConfigHead(false, forged, null, null, 9, 0, "").bytes());
        run(6000);
        assertEquals(Map.of("older", 1L, "signature", 1L), nodes.get("n1").state.refused());
        store.put("content." + hash("three") + ".0", RevisionStore.compressed("evil".getBytes(StandardCharsets.UTF_8)));
        store.put("content." + hash("three"), "1".getBytes(StandardCharsets.UTF_8));
        RevisionStatement third = statement(3, hash("three"), 0, List.of(), List.of());
        store.put(
                ConfigHead.KEY,
                new ConfigHead(
                                false,
                                new SignedRevision(third, sign(third.text(), keys)),
                                head.current(),
                                null,
                                3,
                                0,
                                "")
                        .bytes());
        run(6000);
        store.put(ConfigHead.KEY, "{}".getBytes(StandardCharsets.UTF_8));
        run(6000);
        assertInForce("two", "n1", "n2", "n3");
        assertTrue(nodes.get("n1").state.refused().containsKey("content"));
        assertTrue(nodes.get("n1").state.refused().containsKey("malformed"));
        assertFalse(events.isEmpty());
    }

    @Test
    void serversWithoutDataAndServersThatAreAwayChangeNothing() throws Exception {
        push("one", List.of());
        run(6000);
        store.entries.clear();
        run(6000);
        assertInForce("one", "n1", "n2", "n3");
        assertEquals(2, nodes.get("n2").pushes.status().next());
        assertTrue(push("two", List.of()).ok());
        run(6000);
        assertInForce("two", "n1", "n2", "n3");
        store.up = false;
        now += 10_000;
        Node node = nodes.get("n1");
        assertThrows(IOException.class, () -> node.follower.step(now));
        store.up = true;
        run(6000);
        assertInForce("two", "n1");
    }

    /** A rollback that this node must refuse ends the canary, so that the node must not replace it. */
    @Test
    void aNodeDoesNotReplaceAHeadThatItHasRefused() throws Exception {
        push("one", List.of());
        run(6000);
        push("two", List.of("n2"));
        run(2000);
        nodes.get("n2").up = false;
        RevisionStatement rollback = statement(4, hash("one"), 1, List.of(), List.of());
        SignedRevision signed = new SignedRevision(rollback, sign(rollback.text(), otherKeys));
        byte[] head = new ConfigHead(false, signed, null, null, 4, 0, "").bytes();
        store.put(ConfigHead.KEY, head);
        run(200_000);
        assertArrayEquals(head, store.entries.get(ConfigHead.KEY).value());
        assertEquals(Map.of("signature", 1L), nodes.get("n1").state.refused());
    }

    @Test
    void guardsJudgeOnlyTheRequestsSinceTheRevisionAfterANewConnection() throws Exception {
        push("one", List.of());
        run(6000);
        nodes.get("n2").metrics = metrics(1000, 1000);
        push("two", List.of("n2"), "hit_ratio>80");
        run(6000);
        nodes.get("n2").start();
        run(1000);
        nodes.get("n2").metrics = metrics(1050, 1100);
        run(65_000);
        assertEquals(
                "n2: hit_ratio is 50, the guard is hit_ratio>80",
                nodes.get("n1").pushes.status().reason());
        assertInForce("one", "n1", "n2", "n3");
    }

    @Test
    void anObservationBeginsWhenTheWorkerAnswersWithItsFigures() throws Exception {
        nodes.get("n2").metrics = metrics(1000, 1000);
        nodes.get("n2").hasFigures = false;
        push("one", List.of("n2"), "hit_ratio>80");
        run(10_000);
        nodes.get("n2").hasFigures = true;
        run(1000);
        nodes.get("n2").metrics = metrics(1050, 1100);
        run(65_000);
        assertEquals(
                "n2: hit_ratio is 50, the guard is hit_ratio>80",
                nodes.get("n1").pushes.status().reason());
    }

    @Test
    void aCanaryIsDecidedAlthoughTheFirstNodeTakesNoPart() throws Exception {
        push("one", List.of());
        run(6000);
        push("two", List.of("n3"));
        run(6000);
        nodes.get("n1").shares = false;
        nodes.get("n3").up = false;
        run(140_000);
        assertEquals("canary", nodes.get("n2").pushes.status().stage());
        run(15_000);
        assertEquals("all", nodes.get("n2").pushes.status().stage());
        assertEquals(2, nodes.get("n2").pushes.status().failed());
    }

    @Test
    void aRevisionIsAppliedAgainAfterAFailureThatSaysNothingAboutIt() throws Exception {
        nodes.get("n2").failure = new AdminException(503, "busy", "16 changes are waiting");
        push("one", List.of());
        run(12_000);
        assertInForce("one", "n1", "n3");
        assertEquals(
                new NodeConfigState(0, 1, "pending", "is applied again after a failure: 16 changes are waiting"),
                nodes.get("n2").state.nodeState());
        assertNull(nodes.get("n2").state.alarm("cdn"));
        nodes.get("n2").failure = null;
        run(6000);
        assertInForce("one", "n2");
        assertEquals(
                new NodeConfigState(1, 1, "applied", ""), nodes.get("n2").state.nodeState());
    }

    @Test
    void aRollbackOfACanaryOfTheFirstRevisionLeavesTheLocalFileAlone() throws Exception {
        push("one", List.of("n2"));
        run(6000);
        assertInForce("one", "n2");
        Node node = nodes.get("n1");
        FleetConfigSource.Status status = node.pushes.status();
        assertEquals(0, status.previous());
        assertEquals("none", status.previousContent());
        assertTrue(send(
                        node,
                        statement(status.next(), "none", 0, List.of(), List.of())
                                .text(),
                        "",
                        keys)
                .ok());
        run(6000);
        assertInForce("-", "n1", "n2", "n3");
        push("one", List.of());
        run(6000);
        push("two", List.of("n2"));
        run(1000);
        assertEquals(hash("one"), node.pushes.status().previousContent());
        assertEquals(status.next() + 1, node.pushes.status().previous());
    }

    @Test
    void aCanaryNeedsAFallbackThatRestoresWhatWasBefore() throws Exception {
        push("one", List.of());
        run(6000);
        RevisionStatement canary = statement(2, hash("two"), 0, List.of("n2"), List.of());
        SignedRevision signed = new SignedRevision(canary, sign(canary.text(), keys));
        SignedRevision previous =
                ConfigHead.read(store.entries.get(ConfigHead.KEY).value()).current();
        RevisionStatement other = statement(3, hash("two"), 0, List.of(), List.of());
        for (SignedRevision fallback :
                Arrays.asList(null, new SignedRevision(other, sign(other.text(), keys)), previous)) {
            store.put(ConfigHead.KEY, new ConfigHead(true, signed, previous, fallback, 3, 0, "").bytes());
            run(6000);
        }
        assertEquals(Map.of("malformed", 3L), nodes.get("n2").state.refused());
        assertInForce("one", "n1", "n2", "n3");
    }

    /** The number is not signed, so that any member of the fleet could use up all numbers with it. */
    @Test
    void aReservedNumberBeyondTheLimitIsIgnored() throws Exception {
        push("one", List.of());
        ConfigHead head = ConfigHead.read(store.entries.get(ConfigHead.KEY).value());
        byte[] forged = new ConfigHead(false, head.current(), null, null, Long.MAX_VALUE, 0, "").bytes();
        assertEquals(1, ConfigHead.read(forged).reserved());
    }

    @Test
    void theClockOfTheFollowerMayBeginAnywhere() throws Exception {
        now = Long.MIN_VALUE / 4;
        push("one", List.of());
        run(6000);
        push("two", List.of("n2"));
        run(70_000);
        assertInForce("two", "n1", "n2", "n3");
    }

    @Test
    void aPushThatAnotherOneOvertakesLeavesNoHistory() throws Exception {
        push("one", List.of());
        store.beforeReplace = () -> store.entries.remove(ConfigHead.KEY);
        assertThrows(CompletionException.class, () -> push("two", List.of()));
        assertEquals(1, nodes.get("n1").pushes.history().size());
    }

    @Test
    void aPushWhoseHistoryCannotBeCleanedUpIsPublished() throws Exception {
        store.lists = false;
        assertEquals(new PushReport(true, 1, "all", List.of()), push("one", List.of()));
        run(6000);
        assertInForce("one", "n1", "n2", "n3");
    }

    @Test
    void thePushOfAContentThatIsBeingDeletedIsComplete() throws Exception {
        push("one", List.of());
        push("two", List.of());
        // Another node drops the first revision from the history, with its content.
        store.beforeReplace = () -> store.entries.keySet().removeIf(key -> key.startsWith("content." + hash("one")));
        push("one", List.of());
        run(6000);
        assertInForce("one", "n1", "n2", "n3");
    }

    @Test
    void contentsOfOldRevisionsAreDeletedAndThoseOfPushesInProgressStay() throws Exception {
        store.put("content." + hash("other"), "1".getBytes(StandardCharsets.UTF_8));
        for (int i = 1; i <= RevisionStore.KEPT + 1; i++) {
            push("text " + i, List.of());
        }
        assertFalse(store.entries.containsKey("content." + hash("text 1")));
        assertFalse(store.entries.containsKey("content." + hash("text 1") + ".0"));
        assertFalse(store.entries.containsKey("revision.1"));
        assertTrue(store.entries.containsKey("content." + hash("text 2") + ".0"));
        assertTrue(store.entries.containsKey("content." + hash("other")));
    }
}
