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
 * Linux the kernel reports the writes (inotify). If the kernel does not report them (on network file systems, or above
 * its limit of watches), {@link FleetMembership} finds each purge when it polls the outbox. Thread-safe, except for
 * {@link #check}.
 */
final class OutboxWatch implements AutoCloseable {
    /** Minimum interval between two attempts to watch a directory that was deleted. */
    static final long RETRY_MILLIS = 1000;

    private static final Logger LOG = LoggerFactory.getLogger(OutboxWatch.class);

    private final Path directory;
    private final Runnable wakeUp;
    /** Null if the directory could not be watched at the beginning. */
    private final @Nullable WatchService changes;

    private volatile boolean active;
    private long triedAt;

    private OutboxWatch(Path directory, Runnable wakeUp, @Nullable WatchService changes) {
        this.directory = directory;
        this.wakeUp = wakeUp;
        this.changes = changes;
        this.active = changes != null;
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
            new OutboxWatch(directory, wakeUp, opened).close();
            return new OutboxWatch(directory, wakeUp, null);
        }
        OutboxWatch watch = new OutboxWatch(directory, wakeUp, opened);
        WatchService changes = opened;
        Thread thread = new Thread(() -> watch.run(changes), "millrace-outbox-watch");
        thread.setDaemon(true);
        thread.start();
        return watch;
    }

    private void run(WatchService changes) {
        try {
            while (true) {
                WatchKey key = changes.take();
                key.pollEvents();
                if (!key.reset()) {
                    active = false;
                    LOG.debug("{}: changes are only polled, because the directory was deleted", directory);
                }
                wakeUp.run();
            }
        } catch (ClosedWatchServiceException e) {
            LOG.trace("the watch was closed");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Watches the directory again if it was deleted and exists now. Call often, on one thread. */
    void check(long nowMillis) {
        WatchService present = changes;
        if (present == null || active || nowMillis - triedAt < RETRY_MILLIS) {
            return;
        }
        triedAt = nowMillis;
        // Set first, because the new directory may be deleted at once.
        active = true;
        try {
            directory.register(present, StandardWatchEventKinds.ENTRY_MODIFY);
            LOG.debug("{}: changes are reported again", directory);
        } catch (IOException e) {
            active = false;
            LOG.trace("{} cannot be watched", directory, e);
        }
    }

    /** Returns true if changes are reported. */
    boolean isActive() {
        return active;
    }

    @Override
    public void close() {
        active = false;
        try {
            if (changes != null) {
                changes.close();
            }
        } catch (IOException e) {
            LOG.debug("the watch of the outbox cannot be closed", e);
        }
    }
}
