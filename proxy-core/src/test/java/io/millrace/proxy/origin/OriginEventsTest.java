package io.millrace.proxy.origin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.origins.OriginGroupKeys;
import io.millrace.proxy.config.value.RuleUrl;
import io.millrace.proxy.observe.event.Event;
import io.millrace.proxy.observe.event.EventKind;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Events of hosts that go down and come back. */
class OriginEventsTest {
    private static final long T = 1_000_000;

    private final OriginGroups groups = new OriginGroups();
    private final List<Event> events = new ArrayList<>();

    @BeforeEach
    void apply() {
        groups.apply(ProxyConfig.builder()
                .originGroup(
                        "g",
                        ConfigValues.builder().build(),
                        List.of(ConfigValues.builder()
                                .set(OriginGroupKeys.HOST_URL, new RuleUrl("http", "10.0.0.1", -1, "/"))
                                .build()))
                .build()
                .originGroups());
        groups.events(events::add);
    }

    private OriginHost host() {
        return groups.find("g").hosts().get(0);
    }

    private void fail(int times) {
        for (int i = 0; i < times; i++) {
            host().failed(
                            "reset",
                            host().health().term(),
                            T,
                            groups.find("g").config().markdown(),
                            0);
        }
    }

    private List<EventKind> kinds() {
        return events.stream().map(Event::kind).toList();
    }

    @Test
    void hostIsReportedOnceWhenItGoesDownAndOnceWhenItIsBack() {
        int threshold = groups.find("g").config().markdown().failThreshold();
        fail(threshold - 1);
        assertEquals(List.of(), events);
        fail(3);
        assertEquals(List.of(EventKind.ORIGIN_DOWN), kinds());
        assertEquals("http://10.0.0.1", events.get(0).subject());
        assertTrue(
                events.get(0).text().startsWith("group g: down, reset"),
                events.get(0).text());
        host().checkedUp(host().health().term(), T + 5);
        assertEquals(List.of(EventKind.ORIGIN_DOWN, EventKind.ORIGIN_UP), kinds());
        assertEquals(T + 5, events.get(1).atMillis());
    }

    @Test
    void operatorsMarkIsAnEventAndFailuresDuringItAreNone() {
        host().markDown(new OriginHealth.ManualDown("maintenance", T, Long.MAX_VALUE), T);
        fail(groups.find("g").config().markdown().failThreshold());
        host().markUp(T + 1);
        assertEquals(List.of(EventKind.ORIGIN_DOWN, EventKind.ORIGIN_UP), kinds());
        assertTrue(events.get(0).text().contains("maintenance"), events.get(0).text());
    }
}
