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
 * The lease of a directory: a lock on its file {@value #LOCK_FILE}. Besides this class only {@link LockHolder} opens
 * that file, and only while this process does not hold the lease.
 *
 * <p>POSIX releases all locks of a process on a file when the process closes any descriptor of the file. Therefore the
 * holder's pid is in a second file, {@value #OWNER_FILE}. The class also checks its list of leases of this process
 * before it opens a lock file.
 *
 * <p>Thread-safe.
 */
final class LockFileLease implements Closeable {
    static final String LOCK_FILE = "lock";
    static final String OWNER_FILE = "owner";

    private static final Set<Path> LEASES_OF_THIS_PROCESS = ConcurrentHashMap.newKeySet();

    private final Path directory;
    private final FileChannel channel;
    private final FileLock lock;
    private final AtomicBoolean closed = new AtomicBoolean();

    private LockFileLease(Path directory, FileChannel channel, FileLock lock) {
        this.directory = directory;
        this.channel = channel;
        this.lock = lock;
    }

    static LockFileLease acquire(Path directory) throws IOException {
        Path real = directory.toRealPath();
        if (!LEASES_OF_THIS_PROCESS.add(real)) {
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
                LEASES_OF_THIS_PROCESS.remove(real);
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
        return LEASES_OF_THIS_PROCESS.contains(directory.toRealPath());
    }

    @Override
    public void close() throws IOException {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        try (channel) {
            lock.release();
        } finally {
            LEASES_OF_THIS_PROCESS.remove(directory);
        }
    }
}
