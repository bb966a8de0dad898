package io.millrace.launcher.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.history.History;
import io.millrace.proxy.admin.config.ConfigControl.ReloadReport;
import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.config.admin.AdminKeys;
import io.millrace.proxy.observe.event.Event;
import io.millrace.proxy.observe.event.EventKind;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The setting {@code admin.history} applies to a running launcher, and each change is an event. */
class HistorySettingTest extends ConfigChangesFixture {
    private final List<Event> events = new ArrayList<>();

    @Test
    void changeResizesTheFileAndIsAnEvent() throws Exception {
        run(FILE);
        running.events(events::add);
        try (History history = History.open(
                directory.resolve("history.ring"), running.config().values().get(AdminKeys.HISTORY))) {
            running.onApplied(config -> history.resize(config.values().get(AdminKeys.HISTORY)));
            long before = Files.size(directory.resolve("history.ring"));
            Files.writeString(file, FILE + "admin: {history: 1MiB}\n");
            ReloadReport report = done(changes.reload());
            assertTrue(report.ok(), report.toString());
            assertTrue(Files.size(directory.resolve("history.ring")) < before);
            assertTrue(done(changes.set(Map.of("admin.history", "0"), false)).ok());
            assertEquals(List.of(), history.archives());
        }
        assertEquals(
                List.of(EventKind.RELOAD, EventKind.RELOAD),
                events.stream().map(Event::kind).toList());
        assertEquals("reload: admin.history was 2MiB, is 1MiB", events.get(0).text());
    }

    @Test
    void eventNamesTheClientThatChangedASetting() throws Exception {
        run(FILE);
        running.events(events::add);
        AdminCaller ops = new AdminCaller(-1, "ops", "10.0.0.7");
        done(changes.set(Map.of("admin.history", "1MiB"), false, ops));
        done(changes.set(Map.of("admin.history", "3MiB"), true, ops));
        done(changes.reset(List.of(), ops));
        done(changes.reload(new AdminCaller(1000, null, null)));
        done(changes.rollback(1, ops));
        assertEquals(
                List.of(
                        "set by token ops from 10.0.0.7: admin.history was 2MiB, is 1MiB",
                        "set --save by token ops from 10.0.0.7: admin.history was 1MiB, is 3MiB",
                        "reset by token ops from 10.0.0.7: no change",
                        "reload by uid 1000: no change",
                        "rollback to 1 by token ops from 10.0.0.7: admin.history was 3MiB, is 2MiB"),
                events.stream().map(Event::text).toList());
    }

    @Test
    void rejectedConfigurationIsAnEventWithItsFirstProblem() throws Exception {
        run(FILE);
        running.events(events::add);
        Files.writeString(file, FILE + "admin: {history: 1KiB}\n");
        assertTrue(!done(changes.reload()).ok());
        assertEquals(EventKind.CONFIG_REJECTED, events.get(0).kind());
        assertTrue(events.get(0).text().contains("admin.history"), events.get(0).text());
    }
}
