package io.millrace.launcher.fleet;

import java.io.IOException;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Wakes the thread of the fleet when a worker writes to the outbox, so that a purge does not wait for the next poll. On
 * Linux the kernel reports the writes (inotify). Where it does not, as on network file systems or above its limit of
 * watches, the poll still finds each purge. Thread-safe.
 */
final class OutboxWatch implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(OutboxWatch.class);

    private final @Nullable WatchService watch;

    private OutboxWatch(@Nullable WatchService watch) {
        this.watch = watch;
    }

    /**
     * Begins to watch. If that is not possible, returns a watch that reports nothing.
     *
     * @param directory the directory of the outbox, which is created if it does not exist
     * @param wakeUp runs on another thread after each change of a file in the directory
     */
    static OutboxWatch begin(Path directory, Runnable wakeUp) {
        WatchService opened = null;
        try {
            Files.createDirectories(directory);
            opened = directory.getFileSystem().newWatchService();
            directory.register(opened, StandardWatchEventKinds.ENTRY_MODIFY);
        } catch (IOException | UnsupportedOperationException e) {
            LOG.debug("{}: changes are only polled: {}", directory, e.toString());
            new OutboxWatch(opened).close();
            return new OutboxWatch(null);
        }
        WatchService changes = opened;
        Thread thread = new Thread(() -> run(changes, wakeUp), "millrace-outbox-watch");
        thread.setDaemon(true);
        thread.start();
        return new OutboxWatch(changes);
    }

    private static void run(WatchService changes, Runnable wakeUp) {
        try {
            boolean isValid = true;
            while (isValid) {
                WatchKey key = changes.take();
                key.pollEvents();
                isValid = key.reset();
                wakeUp.run();
            }
        } catch (ClosedWatchServiceException e) {
            LOG.trace("the watch was closed");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns true if changes are reported. */
    boolean isActive() {
        return watch != null;
    }

    @Override
    public void close() {
        try {
            if (watch != null) {
                watch.close();
            }
        } catch (IOException e) {
            LOG.debug("the watch of the outbox cannot be closed", e);
        }
    }
}
