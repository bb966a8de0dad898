package io.millrace.launcher.alarm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.key.AlarmConfig;
import io.millrace.proxy.config.value.SyslogAddress;
import io.millrace.proxy.observe.alarm.Alarm;
import io.millrace.proxy.observe.alarm.AlarmKind;
import io.millrace.proxy.observe.log.target.FakeSyslog;
import io.millrace.proxy.observe.log.target.SyslogConfig;
import io.millrace.proxy.observe.log.target.SyslogFacility;
import io.millrace.proxy.observe.log.target.SyslogSeverity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real programs and receivers of alarms. */
class AlarmActionsTest {
    private static final long AT = 1_795_860_000_000L;
    private static final Alarm DISK =
            new Alarm(AlarmKind.DISK_OFFLINE, "/mnt/$(touch x)]\"\\", "Input/output error; `reboot`", AT);
    private static final AlarmChange RAISED = new AlarmChange(DISK, true, AT);
    private static final AlarmChange CLEARED = new AlarmChange(DISK, false, AT + 5500);

    @TempDir
    Path directory;

    private final List<Long> waits = new ArrayList<>();
    private long nowNanos;
    private AlarmConfig settings = new AlarmConfig(null, Duration.ofSeconds(60), 6, null);

    private AlarmCommand command(String script) throws IOException {
        Path program = Files.writeString(directory.resolve("page"), "#!/bin/sh\n" + script + "\n");
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
        settings = new AlarmConfig(program, settings.timeout(), settings.runsPerMinute(), null);
        return new AlarmCommand(() -> settings, directory, () -> nowNanos, this::pass);
    }

    private void pass(long nanos) {
        waits.add(TimeUnit.NANOSECONDS.toSeconds(nanos));
        nowNanos += nanos;
    }

    private AlarmMessages messages(@Nullable SyslogAddress address) {
        SyslogConfig receiver = address == null
                ? null
                : new SyslogConfig(address, SyslogFacility.DAEMON, SyslogSeverity.ERR, "millrace", null, null, null);
        settings = new AlarmConfig(null, Duration.ofSeconds(60), 6, receiver);
        return new AlarmMessages(() -> settings, this::pass);
    }

    @Test
    void programGetsTheAlarmInItsEnvironmentAndNothingIsInterpreted() throws Exception {
        command("env > got; echo \"$# $PWD\"").perform(CLEARED);
        String got = Files.readString(directory.resolve("got"));
        for (String line : List.of(
                "MILLRACE_ALARM=disk-offline",
                "MILLRACE_ALARM_STATE=cleared",
                "MILLRACE_ALARM_SEVERITY=error",
                "MILLRACE_ALARM_SUBJECT=/mnt/$(touch x)]\"\\",
                "MILLRACE_ALARM_TEXT=Input/output error; `reboot`",
                "MILLRACE_ALARM_SINCE=2026-11-28T10:00:00Z",
                "MILLRACE_ALARM_AT=2026-11-28T10:00:05.500Z")) {
            assertTrue(got.lines().anyMatch(line::equals), line + "\n" + got);
        }
        // The shell adds the last four.
        Pattern known = Pattern.compile("MILLRACE_ALARM.*|PATH|HOME|USER|LANG|LC_ALL|TZ|TMPDIR|PWD|OLDPWD|SHLVL|_");
        assertTrue(
                got.lines().map(line -> line.substring(0, line.indexOf('='))).allMatch(name -> known.matcher(name)
                        .matches()),
                got);
        assertFalse(Files.exists(directory.resolve("x")));
        Path output = directory.resolve(AlarmCommand.OUTPUT);
        assertEquals("0 " + directory.toRealPath() + "\n", Files.readString(output));
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(output)));
    }

    @Test
    void failedProgramIsReportedWithItsOutput() throws Exception {
        IOException failure = assertThrows(
                IOException.class, () -> command("echo no gateway >&2; exit 3").perform(RAISED));
        assertTrue(failure.getMessage().endsWith("page ended with exit code 3: no gateway"), failure.getMessage());
        settings = new AlarmConfig(directory.resolve("none"), settings.timeout(), 6, null);
        AlarmCommand missing = new AlarmCommand(() -> settings, directory, () -> nowNanos, this::pass);
        assertThrows(IOException.class, () -> missing.perform(RAISED));
    }

    @Test
    void programThatDoesNotEndIsKilledWithItsChildren() throws Exception {
        settings = new AlarmConfig(null, Duration.ofSeconds(1), 6, null);
        AlarmCommand command = command("sleep 600 & echo $! > child; wait");
        IOException failure = assertThrows(IOException.class, () -> command.perform(RAISED));
        assertTrue(failure.getMessage().contains("did not end within 1 s (alarms.exec.timeout)"), failure.getMessage());
        long child = Long.parseLong(Files.readString(directory.resolve("child")).strip());
        ProcessHandle.of(child)
                .ifPresent(handle ->
                        handle.onExit().orTimeout(60, TimeUnit.SECONDS).join());
    }

    @Test
    void programIsStartedAtMostSoManyTimesInAMinute() throws Exception {
        settings = new AlarmConfig(null, Duration.ofSeconds(60), 2, null);
        AlarmCommand command = command("echo x >> runs");
        for (int i = 0; i < 5; i++) {
            command.perform(RAISED);
        }
        assertEquals(5, Files.readAllLines(directory.resolve("runs")).size());
        assertEquals(List.of(60L, 60L), waits);
    }

    @Test
    void messageHasPriorityStructuredDataAndText() throws Exception {
        try (FakeSyslog receiver = FakeSyslog.tcp(0)) {
            AlarmMessages messages = messages(SyslogAddress.parse(receiver.address()));
            messages.perform(RAISED);
            String message = receiver.next();
            assertTrue(message.startsWith("<27>1 2026-11-28T10:00:00Z "), message);
            assertTrue(
                    message.endsWith(" alarm [millrace@32473 alarm=\"disk-offline\" state=\"raised\""
                            + " subject=\"/mnt/$(touch x)\\]\\\"\\\\\" since=\"2026-11-28T10:00:00Z\"]"
                            + " disk-offline raised: /mnt/$(touch x)]\"\\: Input/output error; `reboot`"),
                    message);
            messages.perform(CLEARED);
            assertTrue(receiver.next().startsWith("<29>1 "));
        }
        try (FakeSyslog receiver = FakeSyslog.udp()) {
            messages(SyslogAddress.parse(receiver.address())).perform(RAISED);
            assertTrue(receiver.next().contains(" disk-offline raised: "));
        }
        assertEquals(List.of(), waits);
    }

    @Test
    void receiverThatIsDownIsTriedAgainAndTheMessageIsGivenUpInTheEnd() throws Exception {
        int port;
        try (FakeSyslog closed = FakeSyslog.tcp(0)) {
            port = closed.port();
        }
        AlarmMessages messages = messages(SyslogAddress.parse("tcp://127.0.0.1:" + port));
        IOException failure = assertThrows(IOException.class, () -> messages.perform(RAISED));
        assertTrue(failure.getMessage().contains("did not accept the message in 15 tries"), failure.getMessage());
        assertEquals(List.of(1L, 2L, 4L, 8L, 16L, 30L), waits.subList(0, 6));
        assertEquals(14, waits.size());
    }

    @Test
    void waitingChangesAreBoundedDroppedAndCounted() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        CountDownLatch running = new CountDownLatch(1);
        List<AlarmChange> performed = new ArrayList<>();
        CountDownLatch all = new CountDownLatch(ActionQueue.WAITING_MAX + 1);
        ActionQueue queue = new ActionQueue("exec", change -> {
            running.countDown();
            release.await();
            performed.add(change);
            all.countDown();
            if (performed.size() == 2) {
                throw new IOException("no gateway");
            }
        });
        try (queue) {
            queue.add(RAISED);
            running.await();
            for (int i = 0; i < ActionQueue.WAITING_MAX + 3; i++) {
                queue.add(CLEARED);
            }
            release.countDown();
            all.await();
        }
        StringBuilder text = new StringBuilder();
        queue.appendMetric(text);
        String name = "millrace_alarm_actions_total{application=\"millrace\",action=\"exec\",result=";
        assertEquals(
                name + "\"done\"} 64.0\n" + name + "\"failed\"} 1.0\n" + name + "\"dropped\"} 3.0\n", text.toString());
        assertEquals(ActionQueue.WAITING_MAX + 1, performed.size());
        assertEquals(RAISED, performed.get(0));
    }
}
