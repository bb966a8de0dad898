package io.millrace.store.io;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The operations of a file system that the store uses.
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
     * Acquires the lease of a directory, which has one holder among all processes. Closing it or the death of the
     * process releases it.
     *
     * @throws LeaseHeldException if another store holds it; the message names the holder if known
     */
    Closeable lease(Path directory) throws IOException;

    /**
     * Opens a file or a block device for reading and writing, with a lease of its own; creates a missing file.
     *
     * @throws LeaseHeldException if another store holds it
     * @throws IOException also if a device is read-only, mounted or otherwise in use
     */
    LeasedFile openLeased(Path file) throws IOException;

    /** Returns the files of a directory with this prefix; empty if the directory is missing. */
    List<Path> list(Path directory, String prefix) throws IOException;

    /**
     * Creates a file with this content, which must not exist yet, and keeps it locked until the process ends or the
     * file is closed.
     */
    HeldFile hold(Path file, byte[] content) throws IOException;

    /**
     * Returns the content of a file created by {@link #hold} if its holder still has it; otherwise deletes the file and
     * returns null.
     */
    byte @Nullable [] contentIfHeld(Path file) throws IOException;

    /**
     * Returns the id of the current boot of the machine. With the same id, pages written by a killed process are still
     * in the page cache. Empty if the platform does not provide it; two empty ids are not equal.
     */
    String bootId();

    /** Returns true if a library that opens files by their path finds the same files; false for files in memory. */
    default boolean hasRealPaths() {
        return false;
    }
}
