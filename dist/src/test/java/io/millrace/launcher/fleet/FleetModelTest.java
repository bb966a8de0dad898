package io.millrace.launcher.fleet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.fleet.FleetConfig;
import io.millrace.proxy.observe.event.EventSink;
import io.millrace.proxy.purge.fleet.FleetCodec;
import io.millrace.proxy.purge.fleet.FleetMessage;
import io.millrace.proxy.purge.fleet.FleetOutboxFile;
import io.millrace.proxy.purge.fleet.FleetPurge;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random histories of three nodes and a stream that is recreated, and truncated or rolled back. In the end, every node has
 * applied every purge that was queued anywhere, or has purged everything after it.
 */
class FleetModelTest {
    private static final int NODES = 3;
    /** The number of histories; more by hand: -Dmillrace.fleet.histories=5000. */
    private static final int HISTORIES = Integer.getInteger("millrace.fleet.histories", 150);

    @TempDir
    Path directory;

    private long now;

    /** A node with its outbox and worker, which survive a restart of its launcher. */
    private final class Node {
        final String name;
        final FakeFleet fleet;
        final FakeFleet.Worker worker;
        final FleetOutboxFile outbox;
        FleetState state;
        FakeFleet.Link link;
        FleetSession session;
        Publishing publishing;
        int purges;

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
            }
            state = new FleetState(EventSink.NONE, () -> now);
            FleetConfig settings = settings(name);
            state.settings(settings);
            link = fleet.new Link(name);
            session = new FleetSession(settings, link, worker, state, outbox, "1", () -> {});
            publishing = new Publishing(settings, link, outbox, state);
        }

        /** Purges here, and queues the message. */
        String purge() throws IOException {
            String id = FleetMessage.sharedId(name, "s" + purges++);
            FleetPurge purge = FleetPurge.of(FleetPurge.Action.ALL, List.of(), false);
            byte[] line = FleetCodec.write(new FleetMessage("cdn", name, outbox.instance(), id, purge));
            byte[] withLineFeed = Arrays.copyOf(line, line.length + 1);
            withLineFeed[line.length] = '\n';
            worker.applied.add(id);
            outbox.append(List.of(withLineFeed));
            return id;
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

    private static FleetConfig settings(String node) {
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
                FleetConfig.OnGap.VALIDATE,
                1,
                1L << 20);
    }

    @Test
    void noPurgeIsMissed() throws Exception {
        long seed = System.nanoTime();
        for (int i = 0; i < HISTORIES; i++) {
            System.out.println("seed " + (seed + i));
            history(new Random(seed + i), directory.resolve("h" + i));
        }
    }

    private void history(Random random, Path outboxes) throws Exception {
        FakeFleet fleet = new FakeFleet();
        List<Node> nodes = new ArrayList<>();
        for (int i = 0; i < NODES; i++) {
            nodes.add(new Node(fleet, "n" + i, outboxes.resolve("n" + i)));
        }
        List<String> purges = new ArrayList<>();
        // Truncation can hide from a node that the servers lost messages which it alone had applied.
        boolean truncates = random.nextBoolean();
        for (int i = 0; i < 120; i++) {
            Node node = nodes.get(random.nextInt(NODES));
            now += random.nextInt(400);
            switch (random.nextInt(18)) {
                case 0, 1, 2, 3 -> purges.add(node.purge());
                case 4 -> node.link.cut();
                case 5, 6 -> node.link.up = true;
                case 7 -> node.worker.up = false;
                case 8 -> node.worker.up = true;
                case 9 -> node.start();
                case 10 -> fleet.truncate(truncates ? random.nextInt(5) : 0);
                case 11 -> {
                    if (random.nextInt(3) == 0) {
                        fleet.recreate();
                    }
                }
                case 12 -> {
                    if (!truncates && random.nextInt(3) == 0) {
                        fleet.rollBack(1 + random.nextInt(3));
                    }
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
        }
    }

    private void settle(List<Node> nodes) throws Exception {
        for (Node node : nodes) {
            node.link.up = true;
            node.worker.up = true;
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
        List<Node> nodes = new ArrayList<>();
        for (int i = 0; i < NODES; i++) {
            nodes.add(new Node(fleet, "n" + i, directory.resolve("n" + i)));
        }
        settle(nodes);
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

    @Test
    void otherReportsAreRefused() throws Exception {
        FakeFleet fleet = new FakeFleet();
        Node node = new Node(fleet, "n0", directory.resolve("n0"));
        FakeFleet.Link other = fleet.new Link("n1");
        NodeReport report = new NodeReport("cdn", "n1", "i", "edge", "1", "", 0, List.of(), false);
        other.report(report.bytes());
        assertEquals(1, node.state.nodes.all().size());
        other.report(new NodeReport("dev", "n1", "i", "edge", "1", "", 0, List.of(), false).bytes());
        other.report(new NodeReport("cdn", "n9", "i", "edge", "1", "", 0, List.of(), false).bytes());
        FakeFleet.Link twin = fleet.new Link("n0");
        twin.report(new NodeReport("cdn", "n0", "i", "edge", "1", "", 0, List.of(), false).bytes());
        assertEquals(1, node.state.nodes.all().size());
        String metrics = node.state.figures.prometheusText(true, 1, 0);
        assertTrue(
                metrics.contains("millrace_fleet_refused_total{application=\"millrace\",reason=\"forged-node\"} 2.0"));
        assertTrue(
                metrics.contains("millrace_fleet_refused_total{application=\"millrace\",reason=\"other-fleet\"} 1.0"));
    }
}
