package io.millrace.launcher.fleet.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.fleet.FleetConfigSource;
import io.millrace.proxy.admin.fleet.FleetConfigSource.PushReport;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.config.fleet.FleetConfig;
import io.millrace.proxy.config.problem.ConfigDocument.Pushed;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

/** Tests pushes, rollbacks and refusals of a shared configuration. */
class ConfigFollowerTest extends ConfigFollowerFixture {
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
