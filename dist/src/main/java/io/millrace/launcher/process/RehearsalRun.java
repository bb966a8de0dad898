package io.millrace.launcher.process;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Rehearsals, one at a time, in a directory of its own. What a worker broke with is not recorded again: that is for the next
 * launcher. Thread-safe.
 */
public final class RehearsalRun implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RehearsalRun.class);

    private final Path directory;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable Process process;
    private @Nullable Path rehearsed;
    private boolean closed;

    /** @param directory made for the rehearsal and removed after it */
    public RehearsalRun(Path directory) {
        this.directory = directory;
    }

    /** Records what {@code command}'s next workers can use, where there is no such recording and this is not the second time. */
    public void start(WorkerCommand command) {
        Path archive = command.archiveFile();
        lock.lock();
        try {
            if (!closed && process == null && archive != null && !archive.equals(rehearsed)) {
                rehearsed = archive;
                record(command);
            }
        } catch (IOException e) {
            LOG.info("no class archive is recorded ({}): workers start slower", e.getMessage());
        } finally {
            lock.unlock();
        }
    }

    private void record(WorkerCommand command) throws IOException {
        remove();
        Files.createDirectories(directory);
        Process started = command.rehearse(directory);
        process = started;
        if (started == null) {
            remove();
        } else {
            started.onExit().thenRun(this::ended);
        }
    }

    private void ended() {
        lock.lock();
        try {
            process = null;
            remove();
        } finally {
            lock.unlock();
        }
    }

    private void remove() {
        remove(directory);
    }

    /** Removes what a recording may have left, as far as that can be done. */
    public static void remove(Path directory) {
        if (!Files.exists(directory)) {
            return;
        }
        try {
            Files.walkFileTree(directory, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                    Files.delete(file);
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult postVisitDirectory(Path visited, @Nullable IOException failure)
                        throws IOException {
                    Files.delete(visited);
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException e) {
            LOG.debug("{} stays behind: {}", directory, e.getMessage());
        }
    }

    /** Ends a rehearsal that is under way. */
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            if (process != null) {
                end(process);
            }
            remove();
        } finally {
            lock.unlock();
        }
    }

    /** From 25 on the JVM has another one write the archive. */
    public static void end(Process rehearsal) {
        List<ProcessHandle> started = rehearsal.descendants().toList();
        rehearsal.destroyForcibly();
        started.forEach(ProcessHandle::destroyForcibly);
    }
}
