package io.millrace.store.engine;

import io.netty.util.concurrent.FastThreadLocalThread;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Runs the operator's commands on volumes (offline, online), one at a time.
 *
 * <p>Each command runs on a new thread, because it waits for disks.
 *
 * <p>Thread-safe.
 */
final class VolumeCommands {
    private final ReentrantLock lifeCycle;
    private final ObjectChanges<?> changes;
    private final AtomicBoolean busy = new AtomicBoolean();

    /** A command on volumes. May block. */
    @FunctionalInterface
    interface Command {
        /** Returns the paths of the changed volumes. */
        List<Path> run() throws IOException;
    }

    /** Creates a runner that holds the lock {@code lifeCycle} while a command runs. */
    VolumeCommands(ReentrantLock lifeCycle, ObjectChanges<?> changes) {
        this.lifeCycle = lifeCycle;
        this.changes = changes;
    }

    /**
     * Starts the command. The returned stage completes with the changed paths. It fails with an {@link IOException} if
     * another command runs or the volumes are being handed over.
     */
    CompletionStage<List<Path>> run(Command command) {
        if (!busy.compareAndSet(false, true)) {
            return CompletableFuture.failedFuture(
                    new IOException("another volume is being taken offline or brought online; try again"));
        }
        CompletableFuture<List<Path>> done = new CompletableFuture<>();
        Thread thread = new FastThreadLocalThread(() -> runNow(command, done), "millrace-store-command");
        thread.setDaemon(true);
        thread.start();
        return done;
    }

    private void runNow(Command command, CompletableFuture<List<Path>> done) {
        List<Path> changed = List.of();
        Throwable failure = null;
        lifeCycle.lock();
        try {
            if (changes.isClosed() || changes.isSuspended()) {
                throw new IOException("the volumes are being handed over to another worker; try again");
            }
            changed = command.run();
        } catch (IOException | RuntimeException e) {
            failure = e;
        } finally {
            lifeCycle.unlock();
            busy.set(false);
        }
        if (failure == null) {
            done.complete(changed);
        } else {
            done.completeExceptionally(failure);
        }
    }
}
