package io.millrace.proxy.origin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.origins.OriginGroupConfig.Markdown;
import io.millrace.proxy.fetch.Origin;
import io.millrace.proxy.fetch.OriginFailure.Reason;
import io.millrace.proxy.observe.event.EventKind;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class HostDatabaseTest {
    private static final Markdown RULES = new Markdown(3, 10_000, 30_000, List.of());
    private static final Origin ORIGIN = Origin.http("app.example", 80);

    private final HostDatabase hosts = new HostDatabase();

    private void fail(int times, long nowMillis) {
        for (int i = 0; i < times; i++) {
            hosts.failed(ORIGIN, "connect-refused", nowMillis, RULES);
        }
    }

    @Test
    void failuresInARowMarkDownAndAResponseMarksUp() {
        List<EventKind> events = new ArrayList<>();
        hosts.events(event -> events.add(event.kind()));
        fail(2, 1000);
        hosts.answered(ORIGIN, 1, 1500);
        fail(2, 2000);
        assertFalse(hosts.isDown(ORIGIN));
        fail(1, 2000);
        assertTrue(hosts.isDown(ORIGIN));
        assertEquals(1, hosts.downCount());
        HostDatabase.State state = hosts.all().get(0).state();
        assertEquals(new HostDatabase.State(3, "connect-refused", 2000, 2000, 12_000, 0), state);

        hosts.answered(ORIGIN, 2, 5000);
        assertFalse(hosts.isDown(ORIGIN));
        HostDatabase.Report report = hosts.all().get(0);
        assertEquals(new HostDatabase.State(0, "connect-refused", 2000, 0, 0, 0), report.state());
        assertEquals(2, report.version());
        assertEquals(5000, report.answeredMillis());
        assertEquals(List.of(EventKind.ORIGIN_DOWN, EventKind.ORIGIN_UP), events);
    }

    @Test
    void oneCallerTriesAfterEachWaitWhichDoublesUpToItsLimit() {
        fail(3, 1_000);
        assertFalse(hosts.beginTrial(ORIGIN, 10_999, RULES));
        assertTrue(hosts.beginTrial(ORIGIN, 11_000, RULES));
        assertFalse(hosts.beginTrial(ORIGIN, 11_000, RULES));
        fail(1, 11_500);
        assertEquals(31_000, hosts.all().get(0).state().retryAt());
        assertTrue(hosts.beginTrial(ORIGIN, 31_000, RULES));
        fail(1, 32_000);
        assertEquals(61_000, hosts.all().get(0).state().retryAt());
    }

    @Test
    void onlyConnectionsThatCouldNotBeMadeCount() {
        assertTrue(HostDatabase.isCounted(Reason.CONNECT_TIMEOUT));
        assertFalse(HostDatabase.isCounted(Reason.FIRST_BYTE_TIMEOUT));
        assertFalse(HostDatabase.isCounted(Reason.QUEUE_FULL));
    }

    @ParameterizedTest
    @CsvSource({"2, true", "4, true", "5, true", "100, true", "0, false"})
    void aReloadedThresholdKeepsAnOriginDownUnlessItIsZero(int threshold, boolean down) {
        List<EventKind> events = new ArrayList<>();
        hosts.events(event -> events.add(event.kind()));
        fail(3, 1_000);
        hosts.failed(ORIGIN, "connect-refused", 2_000, new Markdown(threshold, 10_000, 30_000, List.of()));
        assertEquals(down, hosts.isDown(ORIGIN));
        assertEquals(
                down ? List.of(EventKind.ORIGIN_DOWN) : List.of(EventKind.ORIGIN_DOWN, EventKind.ORIGIN_UP), events);
    }

    @Test
    void thresholdZeroMarksNone() {
        for (int i = 0; i < 100; i++) {
            hosts.failed(ORIGIN, "dns", i, new Markdown(0, 10_000, 30_000, List.of()));
        }
        assertFalse(hosts.isDown(ORIGIN));
        assertEquals(100, hosts.all().get(0).state().failures());
    }

    @Test
    void theNumberOfOriginsIsBoundedAndTheOldestLeave() {
        for (int i = 0; i <= HostDatabase.HOSTS_MAX; i++) {
            hosts.answered(Origin.http("h" + i, 80), 1, 1000L * (i + 1));
        }
        assertTrue(hosts.all().size() < HostDatabase.HOSTS_MAX);
        assertEquals(0, hosts.clear("h0"));
        assertEquals(1, hosts.clear("h" + HostDatabase.HOSTS_MAX));
    }

    @Test
    void clearForgetsEveryPortOfAHost() {
        fail(3, 1_000);
        hosts.answered(Origin.https("app.example", 443), 1, 0);
        hosts.answered(Origin.http("other.example", 80), 1, 0);
        assertEquals(2, hosts.clear("app.example"));
        assertFalse(hosts.isDown(ORIGIN));
        assertEquals(1, hosts.clear(null));
    }
}
