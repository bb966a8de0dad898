package io.millrace.launcher.fleet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.fleet.config.NodeConfigState;
import io.millrace.proxy.config.fleet.FleetConfig;
import io.millrace.proxy.observe.event.EventSink;
import io.millrace.proxy.purge.fleet.FleetCodec;
import io.millrace.proxy.purge.fleet.FleetMessage;
import io.millrace.proxy.purge.fleet.FleetOutboxFile;
import io.millrace.proxy.purge.fleet.FleetPosition;
import io.millrace.proxy.purge.fleet.FleetPurge;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random histories of three nodes and a stream that is recreated, truncated, and rolled back with or without loss of the
 * connections. In the end, every node has applied every purge that was queued anywhere, or has purged everything after it.
 */
class FleetModelTest {
    private static final int NODES = 3;
    /** The number of histories; more by hand: -Dmillrace.fleet.histories=5000 -Dmillrace.fleet.seed=N. */
    private static final int HISTORIES = Integer.getInteger("millrace.fleet.histories", 150);

    @TempDir
    Path directory;

    private final List<String> trace = new ArrayList<>();
    private long now;

    /** A node with its outbox and worker, which survive a restart of its launcher. */
    private final class Node {
        String name;
        final FakeFleet fleet;
        final FakeFleet.Worker worker;
        final FleetOutboxFile outbox;
        FleetState state;
        FakeFleet.Link link;
        FleetSession session;
        OutboxPublisher publishing;
        int purges;
        long outboxBytesMax = 1 << 20;

        Node(FakeFleet fleet, String name, Path outboxDirectory) throws IOException {
            this.fleet = fleet;
            this.name = name;
            worker = fleet.new Worker();
            outbox = new FleetOutboxFile(outboxDirectory);
            start();
        }

        void start() throws IOException {
            if (link != null) {
                fleet.links.remove(link);
                publishing.close();
            }
            state = new FleetState(EventSink.NONE, () -> now);
            FleetConfig settings = settings(name, outboxBytesMax);
            state.changeSettings(settings);
            link = fleet.new Link(name);
            session = new FleetSession(settings, link, worker, state, outbox, "1", () -> {});
            publishing = new OutboxPublisher(settings, link, outbox, state);
            session.onOwnMessages(publishing::received);
        }

        /** Purges here, and queues the message. */
        String purge() throws IOException {
            String id = FleetMessage.sharedId(name, "s" + purges++);
            send(id, FleetPurge.of(FleetPurge.Action.ALL, List.of(), false));
            worker.applied.add(id);
            return id;
        }

        /** Queues a message. */
        void send(String id, FleetPurge purge) throws IOException {
            byte[] line = FleetCodec.write(new FleetMessage("cdn", name, outbox.instance(), id, purge));
            byte[] withLineFeed = Arrays.copyOf(line, line.length + 1);
            withLineFeed[line.length] = '\n';
            outbox.append(List.of(withLineFeed));
        }

        void step() throws Exception {
            try {
                session.step();
            } catch (IOException e) {
                assertTrue(!worker.up, e::toString);
            }
            publishing.step(session.subscriptions(), session.position());
        }
    }

    private static FleetConfig settings(String node, long outboxBytesMax) {
        return new FleetConfig(
                "cdn",
                List.of("nats://h"),
                node,
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
                outboxBytesMax,
                null);
    }

    @Test
    void noPurgeIsMissed() throws Exception {
        long seed = Long.getLong("millrace.fleet.seed", System.nanoTime());
        for (int i = 0; i < HISTORIES; i++) {
            long one = seed + i;
            trace.clear();
            try {
                history(new Random(one), directory.resolve("h" + i));
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError(
                        "-Dmillrace.fleet.seed=" + one + ": " + e + "\n" + String.join("\n", trace), e);
            }
        }
    }

    private void history(Random random, Path outboxes) throws Exception {
        FakeFleet fleet = new FakeFleet();
        List<Node> nodes = new ArrayList<>();
        for (int i = 0; i < NODES; i++) {
            nodes.add(new Node(fleet, "n" + i, outboxes.resolve("n" + i)));
        }
        List<String> purges = new ArrayList<>();
        for (int i = 0; i < 120; i++) {
            Node node = nodes.get(random.nextInt(NODES));
            now += random.nextInt(400);
            int choice = random.nextInt(21);
            trace.add(now + " " + node.name + " " + choice + ": stream " + fleet.state() + ", position "
                    + node.worker.position);
            switch (choice) {
                case 0, 1, 2, 3 -> purges.add(node.purge());
                case 4 -> node.link.cut();
                case 5, 6 -> node.link.up = true;
                case 7 -> node.worker.up = false;
                case 8 -> node.worker.up = true;
                case 9 -> node.start();
                case 10 -> fleet.truncate(random.nextInt(5));
                case 11 -> {
                    if (random.nextInt(3) == 0) {
                        fleet.recreate();
                    }
                }
                case 12 -> {
                    if (random.nextInt(2) == 0) {
                        fleet.rollBack(1 + random.nextInt(3), random.nextBoolean());
                    }
                }
                case 13 -> node.worker.isSlow = true;
                case 14 -> {
                    node.worker.isSlow = false;
                    node.worker.answer();
                }
                default -> node.step();
            }
        }
        settle(nodes);
        for (Node node : nodes) {
            for (String id : purges) {
                Long epoch = fleet.acknowledged.get(id);
                assertTrue(epoch != null, () -> id + " was never published");
                assertTrue(node.worker.covers(id, epoch), () -> node.name + " misses " + id);
            }
            assertEquals(fleet.last, node.worker.position.sequence(), node.name);
            assertEquals(0, node.outbox.size(), node.name);
            node.publishing.close();
        }
    }

    private void settle(List<Node> nodes) throws Exception {
        for (Node node : nodes) {
            node.link.up = true;
            node.worker.up = true;
            node.worker.isSlow = false;
            node.worker.answer();
        }
        for (int round = 0; round < 40; round++) {
            now += 300;
            for (Node node : nodes) {
                node.step();
            }
        }
    }

    @Test
    void aPurgeIsCompleteWhenTheLiveNodesHaveIt() throws Exception {
        FakeFleet fleet = new FakeFleet();
        List<Node> nodes = settled(fleet);
        FleetView view = new FleetView(nodes.get(0).state);
        nodes.get(2).worker.up = false;
        String id = FleetMessage.localId("n0", nodes.get(0).purge());
        assertEquals(false, view.spread(id).isComplete());
        for (int round = 0; round < 10; round++) {
            now += 50;
            for (Node node : nodes) {
                node.step();
            }
        }
        assertEquals(List.of("n0", "n1"), view.spread(id).applied());
        assertEquals(Map.of("n2", "is behind by 1 message"), view.spread(id).missing());
        assertEquals(false, view.spread(id).isComplete());
        nodes.get(2).worker.up = true;
        settle(nodes);
        assertEquals(false, view.spread(id).isComplete());
        assertEquals(
                "the stream is being compared with the purge", view.spread(id).note());
        now += 20;
        nodes.get(0).step();
        assertTrue(view.spread(id).isComplete());
        nodes.get(2).link.cut();
        for (int round = 0; round < 20; round++) {
            now += 500;
            nodes.get(0).step();
            nodes.get(1).step();
        }
        assertEquals(true, view.spread(id).isComplete());
        assertEquals(List.of("n2"), List.copyOf(view.spread(id).away().keySet()));
    }

    private List<Node> settled(FakeFleet fleet) throws Exception {
        List<Node> nodes = new ArrayList<>();
        for (int i = 0; i < NODES; i++) {
            nodes.add(new Node(fleet, "n" + i, directory.resolve("n" + i)));
        }
        settle(nodes);
        for (int i = 0; i < 4; i++) {
            nodes.get(i % NODES).purge();
        }
        settle(nodes);
        return nodes;
    }

    @Test
    void anAcknowledgedPurgeStaysInTheOutboxUntilThisNodeReceivesIt() throws Exception {
        FakeFleet fleet = new FakeFleet();
        List<Node> nodes = settled(fleet);
        Node sender = nodes.get(0);
        FleetPosition before = sender.session.position();
        fleet.recreate();
        nodes.get(1).session.step();
        now += FleetSession.CHECK_MILLIS;
        nodes.get(1).session.step();
        nodes.get(1).link.cut();
        String id = sender.purge();
        // The new stream acknowledges the purge with a lower number than that of the sender's position, and loses it.
        sender.publishing.step(sender.session.subscriptions(), before);
        sender.publishing.step(sender.session.subscriptions(), before);
        assertTrue(fleet.acknowledged.containsKey(id));
        assertTrue(sender.outbox.size() > 0);
        fleet.rollBack(1, false);
        settle(nodes);
        assertTrue(nodes.get(1).worker.applied.contains(id));
        assertEquals(0, sender.outbox.size());
    }

    @Test
    void aPurgeIsPublishedWhileTheWorkerAppliesABatch() throws Exception {
        FakeFleet fleet = new FakeFleet();
        List<Node> nodes = settled(fleet);
        Node slow = nodes.get(0);
        slow.worker.isSlow = true;
        String first = nodes.get(1).purge();
        nodes.get(1).step();
        slow.step();
        FleetPosition before = slow.session.position();
        String second = slow.purge();
        slow.step();
        assertTrue(fleet.acknowledged.containsKey(second));
        assertEquals(before, slow.session.position(), "the purge of the other node is not durable yet");
        slow.worker.answer();
        slow.step();
        assertEquals(fleet.last - 1, slow.session.position().sequence());
        assertTrue(slow.worker.applied.contains(first));
    }

    @Test
    void aBusyWorkerReceivesTheSameBatchAgainAfterAPause() throws Exception {
        FakeFleet fleet = new FakeFleet();
        List<Node> nodes = settled(fleet);
        Node busy = nodes.get(0);
        long subscriptions = busy.session.subscriptions();
        int batches = busy.worker.batches;
        busy.worker.isBusy = true;
        String id = nodes.get(1).purge();
        nodes.get(1).step();
        assertTrue(busy.session.step(), "the message was received");
        for (int attempt = 1; attempt <= 20; attempt++) {
            assertEquals(batches + attempt, busy.worker.batches);
            now += FleetSession.BUSY_RETRY_MILLIS - 1;
            assertEquals(false, busy.session.step(), "the thread of the fleet waits");
            assertEquals(batches + attempt, busy.worker.batches);
            now++;
            assertEquals(false, busy.session.step(), "the thread of the fleet waits");
        }
        busy.worker.isBusy = false;
        now += FleetSession.BUSY_RETRY_MILLIS;
        busy.session.step();
        assertTrue(busy.worker.applied.contains(id));
        assertEquals(fleet.last, busy.session.position().sequence());
        assertEquals(subscriptions, busy.session.subscriptions());
    }

    @Test
    void aBusyWorkerDoesNotRepeatTheMessageAboutALoss() throws Exception {
        FakeFleet fleet = new FakeFleet();
        Node busy = settled(fleet).get(0);
        fleet.rollBack(2, true);
        busy.worker.isBusy = true;
        assertThrows(WorkerPurges.BusyException.class, busy.session::step);
        long queued = busy.outbox.size();
        assertTrue(queued > 0);
        now += FleetSession.BUSY_RETRY_MILLIS;
        assertThrows(WorkerPurges.BusyException.class, busy.session::step);
        assertEquals(queued, busy.outbox.size());
        busy.worker.isBusy = false;
        settle(List.of(busy));
        // The servers lose the message about the first loss, so the stream ends as at the first loss.
        fleet.rollBack(1, true);
        busy.session.step();
        assertTrue(busy.outbox.size() > 0, "no message about the second loss is queued");
    }

    /** The new file is at least as long as the published part of the former one, and may have the same inode number. */
    @Test
    void aReplacedOutboxIsPublishedFromItsBeginning() throws Exception {
        for (int purges = 1; purges <= 2; purges++) {
            Path outboxes = directory.resolve("replaced" + purges);
            FakeFleet fleet = new FakeFleet();
            Node node = new Node(fleet, "n0", outboxes);
            settle(List.of(node));
            node.purge();
            node.step();
            node.step();
            long published = node.outbox.size();
            assertTrue(published > 0);
            Files.delete(outboxes.resolve("outbox.jsonl"));
            List<String> ids = new ArrayList<>();
            for (int i = 0; i < purges; i++) {
                ids.add(node.purge());
            }
            assertTrue(node.outbox.size() >= published);
            settle(List.of(node));
            for (String id : ids) {
                assertTrue(fleet.acknowledged.containsKey(id), () -> id + " of " + ids);
            }
            assertEquals(0, node.outbox.size());
        }
    }

    /** A removal rewrites the file, which delays the next purge. */
    @Test
    void publishedPurgesStayInTheFileWhileNewOnesAreQueued() throws Exception {
        Node node = settled(new FakeFleet()).get(0);
        for (int round = 0; round < 3; round++) {
            long before = node.outbox.size();
            node.purge();
            now += OutboxPublisher.REMOVE_AFTER_MILLIS - 1;
            for (int step = 0; step < 3; step++) {
                node.step();
            }
            assertTrue(node.outbox.size() > before);
            assertEquals(0, node.state.figures.outboxBytes.get());
        }
        now += OutboxPublisher.REMOVE_AFTER_MILLIS;
        node.step();
        assertEquals(0, node.outbox.size());
    }

    /** The outbox must not be full because of purges that were published. */
    @Test
    void publishedPurgesAreRemovedBeforeTheyFillTheOutbox() throws Exception {
        Node node = settled(new FakeFleet()).get(0);
        node.outboxBytesMax = 2000;
        node.start();
        node.step();
        for (int i = 0; i < 100; i++) {
            node.purge();
            node.step();
            node.step();
            assertTrue(node.outbox.size() < node.outboxBytesMax, () -> "purge " + node.purges);
        }
    }

    @Test
    void theEndOfTheMembershipRemovesPublishedPurges() throws Exception {
        Node node = settled(new FakeFleet()).get(0);
        node.purge();
        node.step();
        node.step();
        assertTrue(node.outbox.size() > 0);
        node.publishing.end();
        assertEquals(0, node.outbox.size());
    }

    @Test
    void aPurgeThatWaitsWhenTheNodeIsRenamedIsPublishedUnderTheNewName() throws Exception {
        FakeFleet fleet = new FakeFleet();
        List<Node> nodes = settled(fleet);
        Node sender = nodes.get(0);
        sender.link.cut();
        String id = sender.purge();
        sender.send(FleetMessage.sharedId("n0", "undo"), FleetPurge.change(FleetPurge.Action.UNDO, id));
        sender.name = "renamed";
        sender.start();
        settle(nodes);
        String renamed = FleetMessage.sharedId("renamed", FleetMessage.localId("n0", id));
        assertTrue(
                nodes.get(1).worker.applied.contains(renamed),
                () -> nodes.get(1).worker.applied.toString());
        assertEquals(0, sender.outbox.size());
        FleetLink.Received undo = fleet.stream.values().stream()
                .filter(message -> message.id().equals("renamed:undo"))
                .findFirst()
                .orElseThrow();
        assertEquals(List.of(renamed), FleetCodec.read(undo.body()).purge().targets());
    }

    @Test
    void nodesThatDetectOneLossTogetherCauseOnePurge() throws Exception {
        FakeFleet fleet = new FakeFleet();
        List<Node> nodes = settled(fleet);
        int before = nodes.get(0).worker.gaps;
        fleet.rollBack(2, true);
        for (Node node : nodes) {
            node.session.step();
        }
        settle(nodes);
        for (Node node : nodes) {
            assertEquals(before + 1, node.worker.gaps, node.name);
            assertEquals(1, node.worker.losses, node.name);
        }
    }

    @Test
    void aLossThatATruncationHidesIsTold() throws Exception {
        FakeFleet fleet = new FakeFleet();
        List<Node> nodes = settled(fleet);
        nodes.get(2).link.cut();
        String lost = nodes.get(0).purge();
        nodes.get(0).step();
        nodes.get(0).step();
        now += OutboxPublisher.REMOVE_AFTER_MILLIS;
        nodes.get(0).step();
        assertEquals(0, nodes.get(0).outbox.size());
        nodes.get(0).link.cut();
        nodes.get(1).link.cut();
        fleet.rollBack(1, true);
        nodes.get(0).link.up = false;
        nodes.get(1).link.up = false;
        nodes.get(2).purge();
        nodes.get(2).purge();
        for (int i = 0; i < 10; i++) {
            now += 300;
            nodes.get(2).step();
        }
        assertEquals(0, nodes.get(2).worker.losses);
        fleet.truncate(Integer.MAX_VALUE);
        settle(nodes);
        assertTrue(nodes.get(2).worker.covers(lost, fleet.acknowledged.get(lost)));
    }

    @Test
    void oneNodeReplacesALastMessageThatWouldExpire() throws Exception {
        FakeFleet fleet = new FakeFleet();
        List<Node> nodes = settled(fleet);
        long last = fleet.last;
        now += FleetSession.MARK_AFTER_MILLIS;
        fleet.lastAgeMillis = FleetSession.MARK_AFTER_MILLIS;
        settle(nodes);
        assertEquals(last + 1, fleet.last);
        for (Node node : nodes) {
            assertEquals(1, node.worker.gaps, "only the first start is a gap");
            assertEquals(last + 1, node.worker.position.sequence());
        }
    }

    @Test
    void aRestartedNodeReportsThePositionOfItsJournal() throws Exception {
        FakeFleet fleet = new FakeFleet();
        Node node = settled(fleet).get(0);
        node.start();
        node.step();
        assertEquals(fleet.last, node.state.figures.lastApplied.get());
        assertEquals(0, node.state.figures.lag());
        assertTrue(node.state
                .figures
                .prometheusText(true, 1, 0)
                .contains("millrace_fleet_applied_sequence{application=\"millrace\"} " + fleet.last + ".0"));
    }

    @Test
    void aLongTimeWithoutAConnectionIsAnAlarm() throws Exception {
        FakeFleet fleet = new FakeFleet();
        Node node = settled(fleet).get(0);
        assertEquals(false, node.state.isDownTooLong());
        node.link.cut();
        node.step();
        now += FleetState.ALARM_AFTER_MILLIS - 1;
        node.step();
        assertEquals(false, node.state.isDownTooLong());
        now++;
        assertTrue(node.state.isDownTooLong());
        node.link.up = true;
        node.step();
        assertEquals(false, node.state.isDownTooLong());
    }

    @Test
    void aRefusedPermissionIsAStateAndAnAlarm() throws Exception {
        Node node = settled(new FakeFleet()).get(0);
        FleetView view = new FleetView(node.state);
        int checks = node.link.checks;
        node.link.refusal = "no permission";
        node.step();
        assertEquals("refused", view.status().state());
        assertEquals("no permission", view.status().problem());
        now += FleetState.ALARM_AFTER_MILLIS;
        node.step();
        assertTrue(node.state.isDownTooLong());
        assertEquals(checks + 2, node.link.checks);
        node.link.refusal = "";
        node.step();
        assertEquals("connected", view.status().state());
        assertEquals(false, node.state.isDownTooLong());
    }

    @Test
    void aRefusedPermissionDoesNotHideOtherFailures() throws Exception {
        Node node = settled(new FakeFleet()).get(0);
        node.link.refusal = "no permission";
        node.worker.up = false;
        node.session.step();
        now += FleetSession.CHECK_MILLIS;
        node.link.cut();
        node.session.step();
        node.link.up = true;
        node.link.fault = new FleetException("wrong form");
        assertEquals(
                "wrong form",
                assertThrows(FleetException.class, node.session::step).getMessage());
        assertEquals(
                "no permission; no worker serves",
                assertThrows(IOException.class, node.session::step).getMessage());
    }

    @Test
    void aPublishedPurgeWithoutAKnownPlaceNamesNoNodes() throws Exception {
        List<Node> nodes = settled(new FakeFleet());
        Node node = nodes.get(0);
        FleetView view = new FleetView(node.state);
        assertEquals(Map.of(), view.spread("u1").missing());
        assertEquals(Map.of(), view.spread("u1").away());
        assertTrue(view.spread("u1").note().contains("not among the latest 10000 purges"));
        node.state.figures.outboxBytes.set(1);
        assertEquals(Set.of("n1", "n2"), view.spread("u1").missing().keySet());
    }

    @Test
    void aPurgeThatIsNotPublishedNamesTheNodesWithoutIt() throws Exception {
        List<Node> nodes = settled(new FakeFleet());
        Node node = nodes.get(0);
        FleetView view = new FleetView(node.state);
        node.link.cut();
        node.step();
        assertEquals(Set.of("n1", "n2"), view.spread("u1").missing().keySet());
        now += NodeTable.LIVE_MILLIS;
        assertEquals(Set.of("n1", "n2"), view.spread("u1").away().keySet());
        assertEquals(
                "the purge waits in the outbox: no server", view.spread("u1").note());
        node.state.nodes.clear();
        assertTrue(view.spread("u1").note().contains("the other nodes are unknown"));
    }

    @Test
    void otherReportsAreRefused() throws Exception {
        FakeFleet fleet = new FakeFleet();
        Node node = new Node(fleet, "n0", directory.resolve("n0"));
        FakeFleet.Link other = fleet.new Link("n1");
        NodeReport report =
                new NodeReport("cdn", "n1", "i", "edge", "", "1", "", 0, List.of(), NodeConfigState.OFF, false);
        other.report(report.bytes());
        assertEquals(1, node.state.nodes.all().size());
        other.report(new NodeReport("dev", "n1", "i", "edge", "", "1", "", 0, List.of(), NodeConfigState.OFF, false)
                .bytes());
        other.report(new NodeReport("cdn", "n9", "i", "edge", "", "1", "", 0, List.of(), NodeConfigState.OFF, false)
                .bytes());
        FakeFleet.Link twin = fleet.new Link("n0");
        twin.report(new NodeReport("cdn", "n0", "i", "edge", "", "1", "", 0, List.of(), NodeConfigState.OFF, false)
                .bytes());
        assertEquals(1, node.state.nodes.all().size());
        String metrics = node.state.figures.prometheusText(true, 1, 0);
        assertTrue(
                metrics.contains("millrace_fleet_refused_total{application=\"millrace\",reason=\"forged-node\"} 2.0"));
        assertTrue(
                metrics.contains("millrace_fleet_refused_total{application=\"millrace\",reason=\"other-fleet\"} 1.0"));
    }

    /** The next push takes a number above those of all reports, so that one report could use up all numbers. */
    @Test
    void impossibleRevisionsOfAReportAreIgnored() throws Exception {
        FakeFleet fleet = new FakeFleet();
        Node node = new Node(fleet, "n0", directory.resolve("n0"));
        FakeFleet.Link other = fleet.new Link("n1");
        for (long newest : new long[] {Long.MAX_VALUE, 100_000_000_000_000_001L, -1}) {
            NodeConfigState nodeState = new NodeConfigState(3, newest, NodeConfigState.APPLIED, "");
            other.report(new NodeReport("cdn", "n1", "i", "edge", "", "1", "", 0, List.of(), nodeState, false).bytes());
            assertEquals(0, node.state.nodes.newestRevision(now));
        }
        NodeConfigState nodeState = new NodeConfigState(3, 4, NodeConfigState.PENDING, "");
        other.report(new NodeReport("cdn", "n1", "i", "edge", "", "1", "", 0, List.of(), nodeState, false).bytes());
        assertEquals(4, node.state.nodes.newestRevision(now));
    }
}
