package io.millrace.launcher.process;

import io.millrace.worker.warmup.WarmUp;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The recorder of class archives, files that let workers start faster. It runs one recording JVM at a time, in a
 * temporary directory. A launcher records an archive only once: if it is missing later, a worker may have failed with
 * it. Thread-safe.
 */
public final class ArchiveRecorder implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ArchiveRecorder.class);

    private final Path directory;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable Process process;
    /** The archive whose recording began last. It is not recorded again. */
    private @Nullable Path recordedArchive;

    private boolean closed;

    /**
     * Creates a recorder.
     *
     * @param directory directory for temporary files, which exists only during a recording
     */
    public ArchiveRecorder(Path directory) {
        this.directory = directory;
    }

    /**
     * Starts to record the archive for later workers with {@code command}. Does nothing if the archive exists, if this
     * launcher has begun to record it before, or while another recording is in progress.
     */
    public void start(WorkerCommand command) {
        Path archive = command.archiveFile();
        lock.lock();
        try {
            if (!closed && process == null && archive != null && !archive.equals(recordedArchive)) {
                recordedArchive = archive;
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
        Process started = command.startRecording(directory);
        process = started;
        if (started == null) {
            remove();
        } else {
            started.onExit().thenRun(this::recordingEnded);
        }
    }

    private void recordingEnded() {
        lock.lock();
        try {
            process = null;
            remove();
        } finally {
            lock.unlock();
        }
    }

    /** Deletes the temporary files. They are those of a warm-up, which a recording executes in its own JVM. */
    private void remove() {
        WarmUp.clear(directory);
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

    /** Kills a recording JVM and its child processes. From Java 25 on, a child JVM writes the archive. */
    public static void end(Process recording) {
        List<ProcessHandle> started = recording.descendants().toList();
        recording.destroyForcibly();
        started.forEach(ProcessHandle::destroyForcibly);
    }
}
