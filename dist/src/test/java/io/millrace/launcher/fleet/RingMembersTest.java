package io.millrace.launcher.fleet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.fleet.config.NodeConfigState;
import io.millrace.proxy.config.fleet.FleetConfig;
import io.millrace.proxy.config.value.RuleUrl;
import io.millrace.proxy.observe.event.EventSink;
import io.millrace.proxy.origin.FleetMembers;
import io.millrace.proxy.origin.FleetMembers.Member;
import io.millrace.proxy.origin.FleetMembersFile;
import io.millrace.proxy.purge.fleet.FleetOutboxFile;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests with a manual clock which nodes of a fleet are hosts of origin groups. */
class RingMembersTest {
    private static final long REPORT_MILLIS = 1000;

    @TempDir
    Path directory;

    private final FakeFleet fleet = new FakeFleet();
    private final FakeFleet.Worker worker = fleet.new Worker();
    private final FleetConfig settings = settings("cdn");
    private long now = 1_000_000;
    private FleetState state;
    private RingMembers ring;

    private static FleetConfig settings(String name) {
        return new FleetConfig(
                name,
                List.of("nats://h"),
                "n1",
                "parent",
                new RuleUrl("http", "10.0.0.1", 80, "/"),
                null,
                null,
                null,
                null,
                null,
                null,
                FleetConfig.OnGap.VALIDATE,
                1,
                1L << 20,
                null);
    }

    @BeforeEach
    void start() throws Exception {
        restart();
        state.setConnected("c1");
        now += FleetState.MEMBERS_KNOWN_MILLIS;
    }

    private void restart() {
        state = new FleetState(EventSink.NONE, () -> now);
        state.changeSettings(settings);
        ring = new RingMembers(new FleetMembersFile(directory), state);
        ring.begin(settings);
    }

    private void report(String node, String address, boolean leaving) {
        NodeReport report = new NodeReport(
                "cdn", node, "i" + node, "parent", address, "1", "", 0, List.of(), NodeConfigState.OFF, leaving);
        state.nodes.add(report, now);
    }

    private void report(int... numbers) {
        for (int number : numbers) {
            report("n" + number, "http://10.0.0." + number + ":80", false);
        }
    }

    /** Returns the nodes that the worker reads. */
    private List<String> nodes() throws Exception {
        ring.step(settings, worker);
        return new FleetMembersFile(directory)
                .read().all().stream().map(Member::node).toList();
    }

    private void pass(long millis) {
        now += millis;
    }

    @Test
    void liveNodesWithAnAddressAreMembers() throws Exception {
        report(1, 2, 3);
        report("n4", "", false);
        assertEquals(List.of("n1", "n2", "n3"), nodes());
        FleetMembers members = new FleetMembersFile(directory).read();
        assertEquals(
                new Member("n1", "parent", new RuleUrl("http", "10.0.0.1", 80, "/"), true),
                members.all().get(0));
        assertEquals(false, members.all().get(1).self());
        assertEquals(Map.of("parent", 3L), ring.countsByTier());
        assertTrue(FleetFigures.ringText(ring.countsByTier())
                .contains("millrace_fleet_ring_nodes{application=\"millrace\",tier=\"parent\"} 3.0"));
    }

    /** Reports arrive each second, so that the last one may precede the death by a second. */
    @Test
    void aDeadNodeLeavesWithin5Seconds() throws Exception {
        report(1, 2);
        assertEquals(List.of("n1", "n2"), nodes());
        for (long passed = REPORT_MILLIS; passed < RingMembers.LIVE_MILLIS; passed += REPORT_MILLIS) {
            pass(REPORT_MILLIS);
            report(1);
            assertEquals(List.of("n1", "n2"), nodes());
        }
        pass(RingMembers.STEP_MILLIS);
        report(1);
        pass(REPORT_MILLIS - RingMembers.STEP_MILLIS);
        assertEquals(List.of("n1"), nodes());
        assertTrue(RingMembers.LIVE_MILLIS + RingMembers.STEP_MILLIS < 5000);
        report(2);
        pass(RingMembers.STEP_MILLIS);
        assertEquals(List.of("n1", "n2"), nodes());
    }

    @Test
    void aNodeThatDrainsOrLeavesIsRemovedAtTheNextStep() throws Exception {
        report(1, 2, 3);
        assertEquals(List.of("n1", "n2", "n3"), nodes());
        report("n2", "", false);
        report("n3", "http://10.0.0.3:80", true);
        pass(RingMembers.STEP_MILLIS);
        assertEquals(List.of("n1"), nodes());
        report("n1", "", false);
        pass(RingMembers.STEP_MILLIS);
        assertEquals(List.of(), nodes());
        assertEquals(Map.of("parent", 0L), ring.countsByTier());
    }

    @Test
    void withoutServersTheLastKnownNodesStay() throws Exception {
        report(1, 2);
        assertEquals(List.of("n1", "n2"), nodes());
        state.setDisconnected("test");
        pass(3_600_000);
        assertEquals(List.of("n1", "n2"), nodes());
        restart();
        pass(3_600_000);
        assertEquals(List.of("n1", "n2"), nodes());
        state.setConnected("c1");
        report(1, 3);
        pass(RingMembers.STEP_MILLIS);
        assertEquals(List.of("n1", "n2", "n3"), nodes(), "the report of n2 may not have arrived yet");
        pass(FleetState.MEMBERS_KNOWN_MILLIS);
        assertEquals(List.of("n1", "n3"), nodes());
    }

    @Test
    void anotherFleetHasNoneOfTheseNodes() throws Exception {
        report(1, 2);
        assertEquals(List.of("n1", "n2"), nodes());
        state.changeSettings(settings("dev"));
        ring.begin(settings("dev"));
        assertEquals(List.of(), nodes());
    }

    @Test
    void aNewProcessKeepsTheNodesOfItsOwnFleetOnly() throws Exception {
        report(1, 2);
        assertEquals(List.of("n1", "n2"), nodes());
        restart();
        assertEquals(List.of("n1", "n2"), nodes());
        state = new FleetState(EventSink.NONE, () -> now);
        state.changeSettings(settings("dev"));
        ring = new RingMembers(new FleetMembersFile(directory), state);
        ring.begin(settings("dev"));
        ring.step(settings("dev"), worker);
        assertEquals(FleetMembers.NONE, new FleetMembersFile(directory).read());
    }

    @Test
    void eachWorkerReadsTheNodesOnce() throws Exception {
        report(1, 2);
        nodes();
        assertEquals(1, worker.membersRead);
        pass(REPORT_MILLIS);
        report(1, 2);
        nodes();
        assertEquals(1, worker.membersRead, "nothing has changed");
        worker.name = "worker 2";
        pass(RingMembers.STEP_MILLIS);
        nodes();
        assertEquals(2, worker.membersRead);
        worker.up = false;
        report(3);
        pass(RingMembers.STEP_MILLIS);
        assertEquals(List.of("n1", "n2", "n3"), nodes());
        assertEquals(2, worker.membersRead);
        worker.up = true;
        pass(RingMembers.STEP_MILLIS);
        nodes();
        assertEquals(3, worker.membersRead, "the worker reads what it has missed");
    }

    @Test
    void reportsCarryTheAddressWhileTheNodeTakesRequests() throws Exception {
        FleetSession session = new FleetSession(
                settings, fleet.new Link("n1"), worker, state, new FleetOutboxFile(directory), "1", () -> {});
        boolean[] takes = {true};
        session.onRequests(() -> takes[0]);
        session.step();
        assertEquals("http://10.0.0.1:80", state.nodes.find("n1").report().address());
        takes[0] = false;
        pass(100);
        session.step();
        assertEquals("", state.nodes.find("n1").report().address(), "reported before the interval ends");
        NodeReport report = state.nodes.find("n1").report();
        assertEquals(report, NodeReport.read(report.bytes(), "n1", "cdn"));
    }
}
