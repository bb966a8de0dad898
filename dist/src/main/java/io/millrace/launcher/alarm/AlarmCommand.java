package io.millrace.launcher.alarm;

import io.millrace.launcher.state.StateDirectory;
import io.millrace.proxy.config.key.AlarmConfig;
import io.millrace.proxy.observe.alarm.Alarm;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the program of {@code alarms.exec} for a change of an alarm. Confined to one thread, which blocks until the
 * program ends.
 *
 * <p>The program gets no arguments, and no shell is used, because subjects and texts of alarms may contain text of
 * origins. The program's environment contains only a few variables of the launcher, since other variables may contain
 * secrets.
 */
final class AlarmCommand implements ActionQueue.Action {
    /** Name of the file in the state directory with the output of the last run. */
    static final String OUTPUT = "alarm-command.log";

    private static final Logger LOG = LoggerFactory.getLogger(AlarmCommand.class);
    private static final File NOTHING = new File("/dev/null");
    private static final List<String> INHERITED = List.of("PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR");
    private static final int OUTPUT_SHOWN_MAX = 300;

    /** Waits for a time. Tests replace this function. */
    @FunctionalInterface
    interface Pause {
        void pass(long nanos) throws InterruptedException;
    }

    private final Supplier<AlarmConfig> settings;
    private final Path directory;
    private final LongSupplier nanoTime;
    private final Pause pause;
    private final RunLimit limit = new RunLimit();

    /**
     * Creates the action.
     *
     * @param settings returns the settings in force
     * @param directory working directory of the program, and place of its output
     * @param nanoTime as {@link System#nanoTime}
     */
    AlarmCommand(Supplier<AlarmConfig> settings, Path directory, LongSupplier nanoTime, Pause pause) {
        this.settings = settings;
        this.directory = directory;
        this.nanoTime = nanoTime;
        this.pause = pause;
    }

    @Override
    public void perform(AlarmChange change) throws IOException, InterruptedException {
        long waitNanos = limit.waitNanos(settings.get().runsPerMinute(), nanoTime.getAsLong());
        while (waitNanos > 0) {
            pause.pass(waitNanos);
            waitNanos = limit.waitNanos(settings.get().runsPerMinute(), nanoTime.getAsLong());
        }
        AlarmConfig current = settings.get();
        Path program = current.command();
        if (program != null) {
            limit.started(nanoTime.getAsLong());
            run(program, TimeUnit.MILLISECONDS.toNanos(current.timeout().toMillis()), change);
        }
    }

    private void run(Path program, long timeoutNanos, AlarmChange change) throws IOException, InterruptedException {
        Path output = directory.resolve(OUTPUT);
        boolean keepsOutput = tryEmpty(output);
        ProcessBuilder builder = new ProcessBuilder(program.toString())
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectInput(NOTHING)
                .redirectOutput(keepsOutput ? Redirect.appendTo(output.toFile()) : Redirect.DISCARD);
        describe(change, builder.environment());
        Process process = builder.start();
        boolean isEnded = false;
        try {
            isEnded = process.waitFor(timeoutNanos, TimeUnit.NANOSECONDS);
        } finally {
            if (!isEnded) {
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly();
            }
        }
        if (!isEnded) {
            throw new IOException(program + " did not end within " + TimeUnit.NANOSECONDS.toSeconds(timeoutNanos)
                    + " s (alarms.exec.timeout) and was killed");
        }
        if (process.exitValue() != 0) {
            throw new IOException(program + " ended with exit code " + process.exitValue()
                    + (keepsOutput ? ": " + shown(output) : ""));
        }
    }

    /**
     * Empties the file. Returns false if it cannot be written, for example on a full disk; the output is discarded
     * then.
     */
    private static boolean tryEmpty(Path output) {
        try {
            Files.write(output, new byte[0]);
            StateDirectory.restrict(output);
            return true;
        } catch (IOException e) {
            LOG.warn("{}: the output of alarms.exec.command is not kept: {}", output, e.toString());
            return false;
        }
    }

    private static String shown(Path output) {
        try (InputStream in = Files.newInputStream(output)) {
            return new String(in.readNBytes(OUTPUT_SHOWN_MAX), StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            return "its output cannot be read: " + e;
        }
    }

    private static void describe(AlarmChange change, Map<String, String> environment) {
        environment.keySet().retainAll(INHERITED);
        Alarm alarm = change.alarm();
        environment.put("MILLRACE_ALARM", alarm.kind().word());
        environment.put("MILLRACE_ALARM_STATE", change.state());
        environment.put("MILLRACE_ALARM_SEVERITY", alarm.kind().severity().word());
        environment.put("MILLRACE_ALARM_SUBJECT", alarm.subject());
        environment.put("MILLRACE_ALARM_TEXT", alarm.text());
        environment.put(
                "MILLRACE_ALARM_SINCE",
                Instant.ofEpochMilli(alarm.sinceMillis()).toString());
        environment.put(
                "MILLRACE_ALARM_AT", Instant.ofEpochMilli(change.atMillis()).toString());
    }
}
