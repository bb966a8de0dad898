package io.millrace.launcher.process;

import io.millrace.launcher.state.StateDirectory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file by which a later launcher finds the running worker, if this launcher dies. A line contains process id,
 * generation, start time and heartbeat timeout of a worker. The start time is needed because process ids are reused.
 * Not thread-safe.
 *
 * <p>The start time is in clock ticks since boot, together with the id of the boot. The start time that the JDK returns
 * is not used, because it changes when the clock is set.
 */
public final class WorkerIdentity {
    private static final Logger LOG = LoggerFactory.getLogger(WorkerIdentity.class);

    private static final Path PROC = Path.of("/proc");

    /**
     * Index of the start time among the fields of {@code /proc/PID/stat} after the command. In proc(5) the start time
     * is field 22, and the first field after the command is field 3.
     */
    private static final int START_TICKS_INDEX = 22 - 3;

    /** Limit of the wait for the exit of one worker, if two workers have lost their launcher. */
    private static final long SETTLE_NANOS = TimeUnit.SECONDS.toNanos(5);

    private static final long SETTLE_POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /** Tolerance of start times by the wall clock. The kernel rounds the boot time to seconds. */
    private static final Duration START_TOLERANCE = Duration.ofSeconds(2);

    /**
     * A worker of an earlier launcher that is still alive.
     *
     * @param heartbeatTimeoutNanos heartbeat timeout of its launcher; 0 if unknown
     */
    public record Survivor(ProcessHandle process, long generation, long heartbeatTimeoutNanos) {}

    private final Path file;

    /** Creates an object for a file, which need not exist. */
    public WorkerIdentity(Path file) {
        this.file = file;
    }

    /** Writes the identity of the serving worker. A failure is only logged. */
    public void write(ProcessHandle worker, long generation, long heartbeatTimeoutNanos) {
        writeLines(line(worker, generation, heartbeatTimeoutNanos));
    }

    /** Writes the identity of the serving worker. A failure is only logged. */
    public void write(WorkerProcess worker) {
        writeLines(line(worker));
    }

    /** Writes the identities of the serving worker and of its successor. A failure is only logged. */
    public void write(WorkerProcess worker, WorkerProcess successor) {
        writeLines(line(worker) + line(successor));
    }

    private static String line(WorkerProcess worker) {
        return line(worker.process(), worker.generation(), worker.heartbeat().timeoutNanos());
    }

    private static String line(ProcessHandle worker, long generation, long heartbeatTimeoutNanos) {
        return worker.pid() + " " + generation + " " + startOf(worker) + " " + heartbeatTimeoutNanos + "\n";
    }

    private void writeLines(String lines) {
        try {
            Files.writeString(file, lines);
            StateDirectory.restrict(file);
        } catch (IOException e) {
            LOG.warn("{} cannot be written ({}): a later launcher will not find this worker", file, e.getMessage());
        }
    }

    /** Deletes the file. To be called when no worker runs. */
    public void clear() {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            LOG.debug("{} cannot be deleted: {}", file, e.getMessage());
        }
    }

    /**
     * Returns the worker that the file identifies, if its process is still alive. If the file names a worker and its
     * successor, one of them exits after the death of the launcher. In that case waits for the exit, and returns the
     * successor if both stay alive. Blocks.
     */
    public Optional<Survivor> find() {
        long deadlineNanos = System.nanoTime() + SETTLE_NANOS;
        List<Survivor> alive = alive();
        while (alive.size() > 1 && System.nanoTime() - deadlineNanos < 0) {
            LockSupport.parkNanos(SETTLE_POLL_NANOS);
            alive = alive();
        }
        return alive.isEmpty() ? Optional.empty() : Optional.of(alive.get(alive.size() - 1));
    }

    private List<Survivor> alive() {
        List<Survivor> alive = new ArrayList<>();
        try {
            for (String line : Files.readAllLines(file)) {
                find(line.strip().split(" ", -1)).ifPresent(alive::add);
            }
        } catch (IOException e) {
            LOG.debug("{} does not contain the identity of a worker: {}", file, e.getMessage());
        }
        return alive;
    }

    private static Optional<Survivor> find(String[] words) {
        try {
            if (words.length != 3 && words.length != 4) {
                return Optional.empty();
            }
            long generation = Long.parseLong(words[1]);
            // Earlier versions wrote three fields, in which the start time is a wall clock time.
            long heartbeatTimeoutNanos = words.length == 3 ? 0 : Long.parseLong(words[3]);
            return ProcessHandle.of(Long.parseLong(words[0]))
                    .filter(ProcessHandle::isAlive)
                    .filter(process -> startedAt(process, words[2]))
                    .map(process -> new Survivor(process, generation, heartbeatTimeoutNanos));
        } catch (NumberFormatException | DateTimeParseException e) {
            return Optional.empty();
        }
    }

    private static boolean startedAt(ProcessHandle process, String start) {
        return start.indexOf('@') >= 0
                ? start.equals(startOf(process))
                : Duration.between(Instant.parse(start), timeOf(process)).abs().compareTo(START_TOLERANCE) < 0;
    }

    /**
     * Returns the start time in the format {@code TICKS@BOOT}. If {@code /proc} is not readable, returns a wall clock
     * time.
     */
    private static String startOf(ProcessHandle process) {
        try {
            String stat = Files.readString(PROC.resolve(process.pid() + "/stat"), StandardCharsets.ISO_8859_1);
            // The command is in parentheses, and may contain any character.
            String[] fields = stat.substring(stat.lastIndexOf(')') + 1).strip().split(" ", -1);
            String boot =
                    Files.readString(PROC.resolve("sys/kernel/random/boot_id")).strip();
            if (fields.length > START_TICKS_INDEX) {
                return fields[START_TICKS_INDEX] + "@" + boot;
            }
        } catch (IOException e) {
            LOG.debug(
                    "the start time of process {} cannot be read from /proc, so the less exact time of the JVM is used: {}",
                    process.pid(),
                    e.getMessage());
        }
        return timeOf(process).toString();
    }

    private static Instant timeOf(ProcessHandle process) {
        return process.info().startInstant().orElse(Instant.EPOCH);
    }
}
