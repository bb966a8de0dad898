package io.millrace.launcher;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file that names the running worker, for the launcher that comes after a dead one: process id, generation and start
 * time, because process ids are used again. Confined to one thread.
 */
final class WorkerIdentity {
    private static final Logger LOG = LoggerFactory.getLogger(WorkerIdentity.class);

    /** The kernel counts starts from a boot time that it rounds to seconds. */
    private static final Duration START_TOLERANCE = Duration.ofSeconds(2);

    /** A worker that is still alive. */
    record Survivor(ProcessHandle process, long generation) {}

    private final Path file;

    WorkerIdentity(Path file) {
        this.file = file;
    }

    void write(ProcessHandle worker, long generation) {
        try {
            Files.writeString(file, worker.pid() + " " + generation + " " + startOf(worker) + "\n");
        } catch (IOException e) {
            LOG.warn("{} cannot be written ({}): a later launcher will not find this worker", file, e.getMessage());
        }
    }

    void clear() {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            LOG.debug("{} stays behind: {}", file, e.getMessage());
        }
    }

    /** The worker that the file names, if it is still the same process. */
    Optional<Survivor> find() {
        try {
            String[] words = Files.readString(file).strip().split(" ", -1);
            if (words.length != 3) {
                return Optional.empty();
            }
            long generation = Long.parseLong(words[1]);
            Instant start = Instant.parse(words[2]);
            return ProcessHandle.of(Long.parseLong(words[0]))
                    .filter(ProcessHandle::isAlive)
                    .filter(process ->
                            Duration.between(start, startOf(process)).abs().compareTo(START_TOLERANCE) < 0)
                    .map(process -> new Survivor(process, generation));
        } catch (IOException | NumberFormatException | DateTimeParseException e) {
            return Optional.empty();
        }
    }

    private static Instant startOf(ProcessHandle process) {
        return process.info().startInstant().orElse(Instant.EPOCH);
    }
}
