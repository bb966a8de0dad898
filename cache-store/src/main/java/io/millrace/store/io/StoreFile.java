package io.millrace.store.io;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * An open file that is read and written by position.
 *
 * <p>Thread-safe.
 */
public interface StoreFile extends Closeable {
    /** Returns the length in bytes. */
    long length() throws IOException;

    /** Returns true if the length cannot be changed, for example of a block device. */
    default boolean isFixed() {
        return false;
    }

    /** Sets the length of the file; added bytes are a hole, which reads as zeros. No effect if the length is fixed. */
    void resize(long length) throws IOException;

    /**
     * Fills {@code target} from {@code position} on. Returns the number of bytes read, which is lower than the
     * remaining space of {@code target} only at the end of the file.
     */
    int read(ByteBuffer target, long position) throws IOException;

    /** Writes all of {@code source} at {@code position}. */
    void write(ByteBuffer source, long position) throws IOException;

    /**
     * Opens a second channel to the file that bypasses the page cache (O_DIRECT). No effect if it is open.
     *
     * @return the bytes of a block: positions, lengths and memory addresses of direct writes are multiples of it
     * @throws IOException if the file system refuses such a channel; the message names the path and the file system
     */
    default int openDirect() throws IOException {
        throw new IOException(this + ": this kind of file has no direct writes");
    }

    /** Returns the bytes of a block of direct writes; 0 until {@link #openDirect} has succeeded. */
    default int directBlockBytes() {
        return 0;
    }

    /**
     * Writes all of {@code source} at {@code position} without the page cache. Reads find the bytes afterwards. The
     * position, the length and the memory address must be multiples of {@link #directBlockBytes}.
     */
    default void writeDirect(ByteBuffer source, long position) throws IOException {
        throw new IOException(this + ": no direct channel");
    }

    /** Forces written bytes to the device, including bytes of direct writes. */
    void force() throws IOException;

    /** Maps a part of the file into memory, shared and writable. The part must be within the file. */
    MappedRegion map(long position, long length) throws IOException;

    @Override
    void close() throws IOException;

    /**
     * A mapped part of a file. The mapping remains valid while the buffer is reachable, also after the file is closed.
     */
    interface MappedRegion {
        /** Returns the mapped bytes; aligned to 8 at index 0. */
        ByteBuffer buffer();

        /** Forces the changed bytes of the mapping to the device. */
        void force() throws IOException;
    }
}
