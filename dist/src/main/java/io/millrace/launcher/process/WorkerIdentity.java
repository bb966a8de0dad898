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
 * A file that names the running worker, for the launcher that comes after a dead one: process id, generation, start, because
 * process ids are used again, and for how long it may be silent. Confined to one thread.
 *
 * <p>The start is what the kernel counts from the boot, and which boot. The JDK knows a time of day only, which it makes of
 * that and the time of the boot: once the clock has been set it is another one for the same process.
 */
public final class WorkerIdentity {
    private static final Logger LOG = LoggerFactory.getLogger(WorkerIdentity.class);

    private static final Path PROC = Path.of("/proc");

    /** Of what follows the command in {@code /proc/PID/stat}, the third field on (proc(5)): the 22nd. */
    private static final int START_TICKS = 22 - 3;

    /** For a worker and its successor to settle which of them serves on, after their launcher has died. */
    private static final long SETTLE_NANOS = TimeUnit.SECONDS.toNanos(5);

    private static final long SETTLE_POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /** Where the start is a time of day: the kernel counts starts from a boot time that it rounds to seconds. */
    private static final Duration START_TOLERANCE = Duration.ofSeconds(2);

    /**
     * A worker that is still alive.
     *
     * @param heartbeatTimeoutNanos how long its launcher would have let it be silent; 0 where that is not known
     */
    public record Survivor(ProcessHandle process, long generation, long heartbeatTimeoutNanos) {}

    private final Path file;

    /** The identity in that file, which need not exist. */
    public WorkerIdentity(Path file) {
        this.file = file;
    }

    /** Writes the serving worker. A failure is logged only. */
    public void write(ProcessHandle worker, long generation, long heartbeatTimeoutNanos) {
        writeLines(line(worker, generation, heartbeatTimeoutNanos));
    }

    /** Writes the serving worker. A failure is logged only. */
    public void write(WorkerProcess worker) {
        writeLines(line(worker));
    }

    /** Writes the serving worker, and the successor that has been told to serve beside it. */
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

    /** Deletes the file: no worker is left. */
    public void clear() {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            LOG.debug("{} stays behind: {}", file, e.getMessage());
        }
    }

    /**
     * The worker that the file names, if it is still the same process. Of a worker and its successor one ends by itself when
     * their launcher dies: waits for that, and takes the successor where both live on.
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
            LOG.debug("{} names no worker: {}", file, e.getMessage());
        }
        return alive;
    }

    private static Optional<Survivor> find(String[] words) {
        try {
            if (words.length != 3 && words.length != 4) {
                return Optional.empty();
            }
            long generation = Long.parseLong(words[1]);
            // Earlier versions wrote three words, and the time of day.
            long heartbeatTimeoutNanos = words.length == 3 ? 0 : Long.parseLong(words[3]);
            return ProcessHandle.of(Long.parseLong(words[0]))
                    .filter(ProcessHandle::isAlive)
                    .filter(process -> hasStarted(process, words[2]))
                    .map(process -> new Survivor(process, generation, heartbeatTimeoutNanos));
        } catch (NumberFormatException | DateTimeParseException e) {
            return Optional.empty();
        }
    }

    private static boolean hasStarted(ProcessHandle process, String start) {
        return start.indexOf('@') >= 0
                ? start.equals(startOf(process))
                : Duration.between(Instant.parse(start), timeOf(process)).abs().compareTo(START_TOLERANCE) < 0;
    }

    /** {@code TICKS@BOOT}, or the time of day where the kernel does not tell. */
    private static String startOf(ProcessHandle process) {
        try {
            String stat = Files.readString(PROC.resolve(process.pid() + "/stat"), StandardCharsets.ISO_8859_1);
            // The command is in parentheses, and may have anything in it.
            String[] fields = stat.substring(stat.lastIndexOf(')') + 1).strip().split(" ", -1);
            String boot =
                    Files.readString(PROC.resolve("sys/kernel/random/boot_id")).strip();
            if (fields.length > START_TICKS) {
                return fields[START_TICKS] + "@" + boot;
            }
        } catch (IOException e) {
            LOG.debug("when process {} started is known by the clock only: {}", process.pid(), e.getMessage());
        }
        return timeOf(process).toString();
    }

    private static Instant timeOf(ProcessHandle process) {
        return process.info().startInstant().orElse(Instant.EPOCH);
    }
}
