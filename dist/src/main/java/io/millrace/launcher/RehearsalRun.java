package io.millrace.launcher;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** At most one rehearsal for each launcher, in a directory of its own. Thread-safe. */
final class RehearsalRun implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RehearsalRun.class);

    private final Path directory;
    private volatile @Nullable Process process;

    /** @param directory made for the rehearsal and removed after it */
    RehearsalRun(Path directory) {
        this.directory = directory;
    }

    /** Records what {@code command}'s next workers can use, where there is no such recording. */
    void start(WorkerCommand command) {
        try {
            remove();
            Files.createDirectories(directory);
            Process started = command.rehearse(directory);
            process = started;
            if (started == null) {
                remove();
            } else {
                started.onExit().thenRun(this::remove);
            }
        } catch (IOException e) {
            LOG.info("no class archive is recorded ({}): workers start slower", e.getMessage());
        }
    }

    private void remove() {
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
        Process running = process;
        if (running != null && running.isAlive()) {
            running.destroyForcibly();
        }
        remove();
    }
}
