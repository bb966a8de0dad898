package io.millrace.store.io;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the store needs of a file system.
 *
 * <p>Thread-safe.
 */
public interface FileIo {
    /** Opens a file for reading and writing, creating it when missing. */
    StoreFile open(Path file) throws IOException;

    /** Opens a file for reading only; it must exist. Writing to it or mapping it writable fails. */
    StoreFile openForReading(Path file) throws IOException;

    /** Whether the path names something. */
    boolean exists(Path path);

    /**
     * Identity of the file that the path names now: device and inode. Null when this file system tells none.
     *
     * @throws java.nio.file.NoSuchFileException when the path names nothing
     */
    default @Nullable Object identity(Path file) throws IOException {
        return null;
    }

    /** Makes the directory and those above it; nothing happens when it exists. */
    void createDirectories(Path directory) throws IOException;

    /** Renames {@code from} to {@code to} in one step, replacing what is there. */
    void rename(Path from, Path to) throws IOException;

    /** Forces what was renamed or made in a directory to the device, where the platform can. */
    default void force(Path directory) throws IOException {}

    /** Deletes the file if it exists. */
    void delete(Path file) throws IOException;

    /**
     * Takes the lease of a directory: one holder at a time over all processes, given up by closing it or by the death
     * of the process.
     *
     * @throws LeaseHeldException when another holds it; the message says who, as far as that is known
     */
    Closeable lease(Path directory) throws IOException;

    /**
     * Opens a file or a block device for reading and writing, with a lease of its own; a file is created when missing.
     *
     * @throws LeaseHeldException when another holds it
     * @throws IOException also when a device is read-only, mounted or otherwise in use
     */
    LeasedFile openLeased(Path file) throws IOException;

    /** The files of a directory whose names start so; empty when it is missing. */
    List<Path> list(Path directory, String prefix) throws IOException;

    /** Makes a file of this content, which must not exist yet, and holds it as long as the process lives or until it is closed. */
    HeldFile hold(Path file, byte[] content) throws IOException;

    /** The content of a file that {@link #hold} made, if its holder still has it; else null, and the file is deleted. */
    byte @Nullable [] contentIfHeld(Path file) throws IOException;

    /**
     * What names the present boot of the machine: as long as it is the same, pages written by a process that was killed
     * are still in the page cache. Empty when the platform does not tell; then no two are the same.
     */
    String bootId();

    /** Whether a library that opens files by their path finds the same files: not so in memory. */
    default boolean hasRealPaths() {
        return false;
    }
}
