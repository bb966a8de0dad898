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
 * Records class archives, one at a time, in a temporary directory. Does not record the same archive twice, since a
 * worker may have failed with it; only a new launcher does. Thread-safe.
 */
public final class RehearsalRun implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RehearsalRun.class);

    private final Path directory;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable Process process;
    private @Nullable Path rehearsed;
    private boolean closed;

    /** @param directory created for a recording and removed after it */
    public RehearsalRun(Path directory) {
        this.directory = directory;
    }

    /**
     * Starts recording the archive for the next workers of {@code command}, unless it exists or was recorded by this
     * launcher before.
     */
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

    /** Removes the files of a recording as far as possible; failures are only logged. */
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
            LOG.debug("{} cannot be deleted: {}", directory, e.getMessage());
        }
    }

    /** Ends a recording in progress. */
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

    /** Kills a recording and its child processes: from Java 25 on, a second JVM writes the archive. */
    public static void end(Process rehearsal) {
        List<ProcessHandle> started = rehearsal.descendants().toList();
        rehearsal.destroyForcibly();
        started.forEach(ProcessHandle::destroyForcibly);
    }
}
