package io.millrace.launcher.fleet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.fleet.FleetConfig;
import io.millrace.proxy.observe.event.EventSink;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests what a node that is not connected says about itself, with a manual clock. */
class FleetMembershipTest {
    @TempDir
    Path directory;

    private final AtomicLong now = new AtomicLong(1_000_000);
    private FleetMembership membership;

    @BeforeEach
    void open() {
        membership = new FleetMembership(directory, EventSink.NONE, "1", now::get, settings -> {
            throw new IOException("");
        });
    }

    @AfterEach
    void close() {
        membership.close();
    }

    private static FleetConfig settings() {
        return new FleetConfig(
                "cdn",
                List.of("nats://u:secret@h"),
                "n1",
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
                null);
    }

    @Test
    void aNodeStartsUntilItsWorkerServes() {
        assertEquals("off", membership.status().state());
        membership.announce(settings());
        assertEquals("starting", membership.status().state());
        assertEquals("cdn", membership.status().fleet());
        assertTrue(membership.status().problem().contains("starts"));
        now.addAndGet(3_600_000);
        assertEquals(List.of(), membership.alarms());
        membership.apply(settings());
        assertEquals("disconnected", membership.status().state());
        membership.announce(null);
        membership.apply(null);
        assertEquals("off", membership.status().state());
    }

    /** The section {@code fleet} may be removed while no worker serves. */
    @Test
    void aFleetThatIsRemovedBeforeAWorkerServesDoesNotStart() {
        membership.announce(settings());
        membership.apply(null);
        assertEquals("off", membership.status().state());
        assertEquals("", membership.status().fleet());
    }

    @Test
    void anAlarmWithoutAReasonNamesTheServers() {
        membership.apply(settings());
        now.addAndGet(FleetState.ALARM_AFTER_MILLIS);
        assertEquals("connecting to nats://h", membership.alarms().get(0).text());
    }

    /** No report arrives while the servers refuse the subscription to the reports. Nodes can still be queried. */
    @Test
    void nodesWithoutAReportAreUnknownOnlyIfReportsCanArrive() {
        FleetState state = new FleetState(EventSink.NONE, now::get);
        state.setConnected("");
        assertTrue(state.mayHaveNode("n2"));
        now.addAndGet(FleetState.MEMBERS_KNOWN_MILLIS);
        assertFalse(state.mayHaveNode("n2"));
        state.setRefusal("the permission to subscribe to millrace.cdn.report.*");
        assertTrue(state.mayHaveNode("n2"));
    }
}
