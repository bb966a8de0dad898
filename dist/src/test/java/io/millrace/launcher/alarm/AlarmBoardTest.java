package io.millrace.launcher.alarm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.status.ProxyStatus;
import io.millrace.proxy.observe.alarm.Alarm;
import io.millrace.proxy.observe.alarm.AlarmKind;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The states of alarms, and how launcher and worker detect them. */
class AlarmBoardTest {
    private static final Alarm DISK = new Alarm(AlarmKind.DISK_OFFLINE, "/mnt/a", "Input/output error", -1);
    private static final Alarm LOOP = new Alarm(AlarmKind.CRASH_LOOP, "worker", "3 workers died", -1);

    private final AlarmBoard board = new AlarmBoard();

    @ParameterizedTest
    @EnumSource(AlarmKind.class)
    void alarmOfTheLauncherIsClearedAlthoughNoWorkerAnswers(AlarmKind kind) {
        Alarm alarm = new Alarm(kind, "edge", "not connected", -1);
        board.update(List.of(alarm), null, 10);
        board.update(List.of(), null, 20);
        assertEquals(List.of(new AlarmChange(alarm.since(10), false, 30)), board.update(List.of(), null, 30));
    }

    @Test
    void alarmIsRaisedOnceAndClearedAfterTwoAbsences() {
        assertEquals(List.of(new AlarmChange(DISK.since(10), true, 10)), board.update(List.of(), List.of(DISK), 10));
        Alarm other = new Alarm(AlarmKind.DISK_OFFLINE, "/mnt/a", "No such device", -1);
        assertEquals(List.of(), board.update(List.of(), List.of(other), 20));
        assertEquals(List.of(other.since(10)), board.alarms());
        assertEquals(List.of(), board.update(List.of(), List.of(), 30));
        assertEquals(List.of(), board.update(List.of(), List.of(other), 40));
        assertEquals(List.of(), board.update(List.of(), List.of(), 50));
        assertEquals(List.of(new AlarmChange(other.since(10), false, 60)), board.update(List.of(), List.of(), 60));
        assertEquals(List.of(), board.alarms());
    }

    @Test
    void withoutAnAnswerOfTheWorkerItsAlarmsStayAndThoseOfTheLauncherChange() {
        board.update(List.of(LOOP), List.of(DISK), 10);
        for (int i = 0; i < 5; i++) {
            board.update(List.of(), null, 20);
        }
        assertEquals(List.of(DISK.since(10)), board.alarms());
        String text = board.prometheusText();
        assertTrue(text.contains("millrace_alarms{application=\"millrace\",kind=\"disk-offline\"} 1.0\n"), text);
        assertTrue(text.contains("millrace_alarms{application=\"millrace\",kind=\"crash-loop\"} 0.0\n"), text);
    }

    @Test
    void threeDeathsInFiveMinutesAreALoopUntilFiveMinutesWithoutDeath() {
        CrashLoop loop = new CrashLoop();
        long minute = TimeUnit.MINUTES.toNanos(1);
        assertEquals(0, loop.update(7, 0), "deaths before the first call");
        assertEquals(0, loop.update(9, minute));
        assertEquals(3, loop.update(10, 2 * minute));
        assertEquals(1, loop.update(10, 6 * minute), "until the last death is old");
        assertEquals(0, loop.update(10, 7 * minute));
        assertEquals(0, loop.update(11, 8 * minute));
        assertEquals(101, loop.update(1_000_000_000, 9 * minute));
    }

    @Test
    void rejectedReloadIsAnAlarmUntilTheNextOneSucceeds() {
        ProxyStatus.LastReload[] last = {null};
        LauncherAlarms launcher = new LauncherAlarms(() -> 0, () -> last[0], () -> "m.yaml", List::of);
        assertEquals(List.of(), launcher.alarms(0));
        last[0] = new ProxyStatus.LastReload(false, "2026-11-28T10:00:00Z", List.of("m.yaml:3:1: odd: unknown"));
        assertEquals(
                List.of(new Alarm(
                        AlarmKind.CONFIG_REJECTED,
                        "m.yaml",
                        "the reload at 2026-11-28T10:00:00Z was rejected: m.yaml:3:1: odd: unknown",
                        -1)),
                launcher.alarms(0));
        last[0] = new ProxyStatus.LastReload(true, "2026-11-28T10:01:00Z", List.of());
        assertEquals(List.of(), launcher.alarms(0));
    }

    @Test
    void answerOfAWorkerIsReadAndAKindOfALaterVersionIsSkipped() throws IOException {
        String answer = "{\"now\":1,\"later\":{\"a\":[1]},\"alarms\":["
                + "{\"kind\":\"disk-offline\",\"severity\":\"error\",\"subject\":\"/mnt/a\","
                + "\"text\":\"Input/output error\",\"more\":[{}]},{\"kind\":\"later\",\"subject\":\"x\"}]}";
        assertEquals(List.of(DISK), WorkerAlarms.parse(answer));
        for (String broken : List.of("", "[]", "{\"alarms\":[", "{\"alarms\":[{\"kind\":\"disk", "<html>")) {
            assertThrows(IOException.class, () -> WorkerAlarms.parse(broken), broken);
        }
    }

    @Test
    void startsInAMinuteAreLimited() {
        RunLimit limit = new RunLimit();
        long second = TimeUnit.SECONDS.toNanos(1);
        for (int i = 0; i < 3; i++) {
            assertEquals(0, limit.waitNanos(3, i * 10L * second));
            limit.started(i * 10L * second);
        }
        assertEquals(30 * second, limit.waitNanos(3, 30 * second));
        assertEquals(50 * second, limit.waitNanos(1, 30 * second));
        assertEquals(0, limit.waitNanos(4, 30 * second));
        assertEquals(0, limit.waitNanos(3, 60 * second));
    }
}
