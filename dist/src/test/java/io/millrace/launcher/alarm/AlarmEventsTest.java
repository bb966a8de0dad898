package io.millrace.launcher.alarm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.config.key.AlarmConfig;
import io.millrace.proxy.observe.alarm.Alarm;
import io.millrace.proxy.observe.alarm.AlarmKind;
import io.millrace.proxy.observe.event.Event;
import io.millrace.proxy.observe.event.EventKind;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The events of alarms. */
class AlarmEventsTest {
    @TempDir
    Path directory;

    /** The worker reports the failure of a disk by an event of its own. */
    @ParameterizedTest
    @EnumSource(AlarmKind.class)
    void alarmIsAnEventWhenItIsClearedAndWhenItIsRaisedUnlessItsCauseIsOne(AlarmKind kind) {
        List<Event> events = new ArrayList<>();
        AlarmConfig settings = new AlarmConfig(null, Duration.ofSeconds(60), 6, null);
        try (Alarms alarms = new Alarms(() -> settings, directory, events::add)) {
            alarms.check(List.of(), List.of(new Alarm(kind, "subject", "text", -1)), 10);
            alarms.check(List.of(), List.of(), 20);
            alarms.check(List.of(), List.of(), 30);
            assertEquals(List.of(), alarms.alarms());
        }
        String text = kind.word() + ": text";
        Event raised = new Event(10, EventKind.ALARM_RAISED, "subject", text);
        Event cleared = new Event(30, EventKind.ALARM_CLEARED, "subject", text);
        assertEquals(kind == AlarmKind.DISK_OFFLINE ? List.of(cleared) : List.of(raised, cleared), events);
    }
}
