package io.millrace.store.io;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The file system operations of the store.
 *
 * <p>Thread-safe.
 */
public interface FileIo {
    /** Opens a file for reading and writing, and creates it if missing. */
    StoreFile open(Path file) throws IOException;

    /** Opens a file for reading only; it must exist. Writing to it or mapping it writable fails. */
    StoreFile openForReading(Path file) throws IOException;

    /** Returns true if the path exists. */
    boolean exists(Path path);

    /**
     * Returns the identity of the file at the path: device and inode. Null if the file system does not provide it.
     *
     * @throws java.nio.file.NoSuchFileException if the path does not exist
     */
    default @Nullable Object identity(Path file) throws IOException {
        return null;
    }

    /** Creates the directory and its parents; no effect if it exists. */
    void createDirectories(Path directory) throws IOException;

    /** Renames {@code from} to {@code to} atomically, and replaces an existing file. */
    void rename(Path from, Path to) throws IOException;

    /** Forces renamed and created entries of a directory to the device, if the platform supports it. */
    default void force(Path directory) throws IOException {}

    /** Deletes the file if it exists. */
    void delete(Path file) throws IOException;

    /**
     * Acquires the lease of a directory. At most one process holds the lease of a directory. The lease is released when
     * it is closed or when the process ends.
     *
     * @throws LeaseHeldException if another store holds the lease; the message names the holder if known
     */
    Closeable lease(Path directory) throws IOException;

    /**
     * Opens a file or block device for reading and writing, and acquires a lease on the file itself. Creates a missing
     * file.
     *
     * @throws LeaseHeldException if another store holds the lease
     * @throws IOException also if a device is read-only, mounted or otherwise in use
     */
    LeasedFile openLeased(Path file) throws IOException;

    /** Returns the files in a directory whose names have this prefix; empty if the directory is missing. */
    List<Path> list(Path directory, String prefix) throws IOException;

    /**
     * Creates a locked file with this content. The lock lasts until the file is closed or the process ends. The file
     * must not exist yet.
     */
    HeldFile hold(Path file, byte[] content) throws IOException;

    /**
     * Returns the content of a file created by {@link #hold}, if the process that created it still holds it. Otherwise
     * deletes the file and returns null.
     */
    byte @Nullable [] contentIfHeld(Path file) throws IOException;

    /**
     * Returns the id of the current boot of the machine. If the id is unchanged, pages written by a killed process are
     * still in the page cache. The id is empty if the platform does not provide it; then assume a reboot.
     */
    String bootId();
}
