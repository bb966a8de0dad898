package io.millrace.proxy.purge.fleet;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Detects that the file of the outbox was replaced, for example because its directory was deleted. Offsets in the
 * former file are then invalid. Keeps the file open, because some file systems give the inode number of a deleted file
 * to the next file. Not thread-safe.
 */
public final class FleetOutboxIdentity implements AutoCloseable {
    private final Path file;
    private @Nullable FileChannel open;
    /** Device and inode number of the open file; null while no file is open. */
    private @Nullable Object key;

    public FleetOutboxIdentity(FleetOutboxFile outbox) {
        this.file = outbox.path();
    }

    /**
     * Returns true if the file is another one than at the previous call, or was created or deleted since then. The
     * first call returns true if the file exists.
     */
    public boolean hasChanged() throws IOException {
        Object currentKey = currentKey();
        if (Objects.equals(currentKey, key)) {
            return false;
        }
        close();
        if (currentKey != null) {
            open();
        }
        return true;
    }

    private @Nullable Object currentKey() throws IOException {
        try {
            return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    private void open() throws IOException {
        try {
            open = FileChannel.open(file, StandardOpenOption.READ);
            // Read again, because the file may have been replaced before it was opened.
            key = currentKey();
        } catch (NoSuchFileException e) {
            key = null;
        }
    }

    @Override
    public void close() throws IOException {
        key = null;
        FileChannel former = open;
        open = null;
        if (former != null) {
            former.close();
        }
    }
}
