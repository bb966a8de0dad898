package io.millrace.launcher.fleet.config;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.fleet.FleetConfigSource;
import io.millrace.proxy.admin.resource.AdminException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

/** Tests canaries: which nodes get a revision first, and who decides about it. */
class ConfigCanaryTest extends ConfigFollowerFixture {
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
}
