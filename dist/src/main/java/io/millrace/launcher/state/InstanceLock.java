package io.millrace.launcher.state;

import io.millrace.launcher.exit.LaunchException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lock that only one launcher can hold for a state directory. It is a kernel lock on a file that contains the
 * process id of the holder. The kernel releases the lock at the end of the process, so a file that still exists does
 * not prevent a start.
 *
 * <p>Not thread-safe.
 */
public final class InstanceLock implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(InstanceLock.class);

    private static final Set<StandardOpenOption> OPEN_OPTIONS =
            Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    private static final FileAttribute<?> GROUP_READABLE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-r-----"));

    private final Path file;
    private FileChannel channel;
    private @Nullable Object fileKey;

    private InstanceLock(Path file, FileChannel channel) {
        this.file = file;
        this.channel = channel;
        fileKey = keyOf(file);
    }

    /**
     * Locks a file, and creates it if it is missing.
     *
     * @throws LaunchException if another process holds the lock; the message contains its process id
     */
    public static InstanceLock acquire(Path file) throws IOException, LaunchException {
        FileChannel channel = FileChannel.open(file, OPEN_OPTIONS, GROUP_READABLE);
        @Nullable FileLock lock;
        try {
            lock = channel.tryLock();
        } catch (OverlappingFileLockException e) {
            lock = null;
        }
        if (lock == null) {
            channel.close();
            throw new LaunchException("another millrace (pid " + holder(file) + ") uses " + file.getParent()
                    + "; stop that process, or choose another state directory with --state");
        }
        try {
            channel.truncate(0);
            channel.write(
                    ByteBuffer.wrap((ProcessHandle.current().pid() + "\n").getBytes(StandardCharsets.US_ASCII)), 0);
        } catch (IOException e) {
            LOG.warn("{} is locked, but this process id cannot be written into the file: {}", file, e.getMessage());
        }
        return new InstanceLock(file, channel);
    }

    private static String holder(Path file) {
        try {
            String text = Files.readString(file).strip();
            return text.isEmpty() ? "unknown" : text;
        } catch (IOException e) {
            return "unknown";
        }
    }

    /**
     * Creates and locks the file again if it was deleted or replaced.
     *
     * @return whether the file was deleted or replaced
     * @throws LaunchException if another launcher has locked the new file
     */
    public boolean restore() throws IOException, LaunchException {
        Object currentKey = keyOf(file);
        if (currentKey != null && currentKey.equals(fileKey)) {
            return false;
        }
        InstanceLock again = acquire(file);
        FileChannel before = channel;
        channel = again.channel;
        fileKey = again.fileKey;
        before.close();
        return true;
    }

    private static @Nullable Object keyOf(Path file) {
        try {
            Object key = Files.readAttributes(file, BasicFileAttributes.class).fileKey();
            return key == null ? file : key;
        } catch (IOException e) {
            return null;
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
