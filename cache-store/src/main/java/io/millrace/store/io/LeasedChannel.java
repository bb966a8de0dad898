package io.millrace.store.io;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The channels of this process to a file or block device: one for reads and writes, and one for direct writes if a
 * volume needs it. The first holds a lock on the file itself.
 *
 * <p>POSIX releases all locks of a process on a file when the process closes any descriptor of the file. Therefore all
 * users in this process share the channels, and the last user closes them. A device is identified by its number, not by
 * its path.
 *
 * <p>Thread-safe: one lock protects all instances.
 */
final class LeasedChannel {
    private static final Path DEVICES = Path.of("/dev");
    private static final Path MEMORY_FILES = Path.of("/dev/shm");
    private static final Set<OpenOption> OPTIONS = Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE);
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static final Map<Object, LeasedChannel> OPEN = new HashMap<>();

    private final Object key;
    private final FileChannel channel;
    private final DirectChannel direct;
    private int users;
    private @Nullable FileLock lease;

    private LeasedChannel(Object key, FileChannel channel, DirectChannel direct) {
        this.key = key;
        this.channel = channel;
        this.direct = direct;
    }

    static LeasedFile open(Path file) throws IOException {
        LOCK.lock();
        try {
            if (!Files.exists(file)) {
                create(file);
            }
            FileKind kind = FileKind.of(file);
            LeasedChannel shared = OPEN.get(kind.key());
            if (shared == null) {
                kind.checkUnused(file);
                shared = new LeasedChannel(kind.key(), FileChannel.open(file, OPTIONS), new DirectChannel(file));
                OPEN.put(kind.key(), shared);
            }
            shared.users++;
            boolean leased = false;
            try {
                shared.acquireLease(file);
                leased = true;
            } finally {
                if (!leased) {
                    shared.removeUser();
                }
            }
            return new LeasedFile(
                    new ChannelFile(file, shared.channel, shared.direct, kind.isDevice(), once(shared::removeUser)),
                    once(shared::releaseLease));
        } finally {
            LOCK.unlock();
        }
    }

    private static void create(Path file) throws IOException {
        Path path = file.toAbsolutePath().normalize();
        if (path.startsWith(DEVICES) && !path.startsWith(MEMORY_FILES)) {
            throw new NoSuchFileException(file.toString(), null, "no such device");
        }
        Files.createFile(file);
    }

    private void acquireLease(Path file) throws IOException {
        if (lease != null) {
            throw new LeaseHeldException(file + ": in use by another store of this process (pid "
                    + ProcessHandle.current().pid() + ")");
        }
        lease = channel.tryLock();
        if (lease == null) {
            LockHolder holder = LockHolder.ofFile(file);
            throw new LeaseHeldException(
                    file + ": in use by another process" + (holder == null ? "" : " (" + holder + ")"));
        }
    }

    private void releaseLease() throws IOException {
        FileLock held = lease;
        lease = null;
        if (held != null && channel.isOpen()) {
            held.release();
        }
    }

    private void removeUser() throws IOException {
        users--;
        if (users == 0) {
            OPEN.remove(key);
            try (direct) {
                channel.close();
            }
        }
    }

    private static Closeable once(Closeable action) {
        AtomicBoolean done = new AtomicBoolean();
        return () -> {
            LOCK.lock();
            try {
                if (done.compareAndSet(false, true)) {
                    action.close();
                }
            } finally {
                LOCK.unlock();
            }
        };
    }
}
