package io.millrace.store.io;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The lease of a directory: a lock on its file {@value #LOCK_FILE}, which no other code opens.
 *
 * <p>POSIX releases all locks of a process on a file when the process closes any descriptor of the file. Therefore the
 * holder's pid is kept in a second file, and a list of this process's leases is checked before the lock file is opened.
 *
 * <p>Thread-safe.
 */
final class LockFileLease implements Closeable {
    static final String LOCK_FILE = "lock";
    static final String OWNER_FILE = "owner";

    private static final Set<Path> HELD_HERE = ConcurrentHashMap.newKeySet();

    private final Path directory;
    private final FileChannel channel;
    private final FileLock lock;
    private final AtomicBoolean closed = new AtomicBoolean();

    private LockFileLease(Path directory, FileChannel channel, FileLock lock) {
        this.directory = directory;
        this.channel = channel;
        this.lock = lock;
    }

    static LockFileLease take(Path directory) throws IOException {
        Path real = directory.toRealPath();
        if (!HELD_HERE.add(real)) {
            throw new LeaseHeldException(directory + ": in use by another store of this process (pid "
                    + ProcessHandle.current().pid() + ")");
        }
        boolean taken = false;
        try {
            LockFileLease lease = lock(real);
            taken = true;
            return lease;
        } finally {
            if (!taken) {
                HELD_HERE.remove(real);
            }
        }
    }

    private static LockFileLease lock(Path directory) throws IOException {
        FileChannel channel =
                FileChannel.open(directory.resolve(LOCK_FILE), StandardOpenOption.WRITE, StandardOpenOption.CREATE);
        try {
            FileLock lock = channel.tryLock();
            if (lock == null) {
                throw new LeaseHeldException(
                        directory + ": in use by another process (" + LockHolder.read(directory) + ")");
            }
            Files.writeString(directory.resolve(OWNER_FILE), LockHolder.self() + "\n");
            return new LockFileLease(directory, channel, lock);
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /** Returns true if this process holds the lease. */
    static boolean isHeldByThisProcess(Path directory) throws IOException {
        return HELD_HERE.contains(directory.toRealPath());
    }

    @Override
    public void close() throws IOException {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        try (channel) {
            lock.release();
        } finally {
            HELD_HERE.remove(directory);
        }
    }
}
