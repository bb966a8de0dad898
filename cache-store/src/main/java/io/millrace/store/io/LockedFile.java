package io.millrace.store.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A file under an exclusive lock, which the kernel releases when the process ends.
 *
 * <p>POSIX releases all locks of a process on a file when the process closes any descriptor of the file. Therefore this
 * process never opens a second channel to a file that it holds: it takes the content from its list of held files.
 *
 * <p>Thread-safe.
 */
final class LockedFile implements HeldFile {
    /** Maximum bytes of content that is read from a file of another process; a longer file counts as empty. */
    private static final int LENGTH_MAX = 64 << 20;

    private static final byte[] NOTHING = {};
    private static final Map<Path, LockedFile> HELD_BY_THIS_PROCESS = new ConcurrentHashMap<>();

    private final Path path;
    private final FileChannel channel;
    private final ReentrantLock writing = new ReentrantLock();
    private volatile byte[] content = NOTHING;

    private LockedFile(Path path, FileChannel channel) {
        this.path = path;
        this.channel = channel;
    }

    static LockedFile create(Path file, byte[] content) throws IOException {
        Path path = real(file);
        FileChannel channel = FileChannel.open(
                path, StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW);
        LockedFile held = new LockedFile(path, channel);
        boolean done = false;
        try {
            FileLock lock = channel.tryLock();
            if (lock == null) {
                throw new IOException(file + ": the new file is locked by another process");
            }
            HELD_BY_THIS_PROCESS.put(path, held);
            held.content(content);
            done = true;
            return held;
        } finally {
            if (!done) {
                held.close();
            }
        }
    }

    /** Returns the content of the file if any process holds it; otherwise deletes the file and returns null. */
    static byte @Nullable [] contentIfHeld(Path file) throws IOException {
        Path path = real(file);
        LockedFile here = HELD_BY_THIS_PROCESS.get(path);
        if (here != null) {
            return here.content;
        }
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            if (channel.tryLock() != null) {
                Files.deleteIfExists(path);
                return null;
            }
            long length = channel.size();
            if (length > LENGTH_MAX) {
                return NOTHING;
            }
            ByteBuffer in = ByteBuffer.allocate((int) length);
            int count = 0;
            while (count >= 0 && in.hasRemaining()) {
                count = channel.read(in);
            }
            return in.array();
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    private static Path real(Path file) throws IOException {
        Path absolute = file.toAbsolutePath();
        Path parent = absolute.getParent();
        return parent == null ? absolute : parent.toRealPath().resolve(absolute.getFileName());
    }

    @Override
    public void content(byte[] bytes) throws IOException {
        writing.lock();
        try {
            ByteBuffer out = ByteBuffer.wrap(bytes);
            while (out.hasRemaining()) {
                channel.write(out, out.position());
            }
            channel.truncate(bytes.length);
            content = bytes.clone();
        } finally {
            writing.unlock();
        }
    }

    @Override
    public void close() throws IOException {
        // The file is deleted while it is locked. Otherwise another process could find it without a lock.
        try (channel) {
            if (channel.isOpen()) {
                Files.deleteIfExists(path);
            }
        } finally {
            HELD_BY_THIS_PROCESS.remove(path, this);
        }
    }
}
