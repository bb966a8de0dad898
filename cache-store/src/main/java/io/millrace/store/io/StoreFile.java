package io.millrace.store.io;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * An open file, read and written by position.
 *
 * <p>Thread-safe.
 */
public interface StoreFile extends Closeable {
    /** Length in bytes. */
    long length() throws IOException;

    /** Whether its length cannot be changed, as that of a block device. */
    default boolean isFixed() {
        return false;
    }

    /**
     * Makes the file exactly this long; what is added is sized, not zeroed (it reads as zeros). Nothing happens when its
     * length is fixed.
     */
    void resize(long length) throws IOException;

    /** Fills {@code target} from {@code position} on; returns the bytes read, fewer only at the end of the file. */
    int read(ByteBuffer target, long position) throws IOException;

    /** Writes all of {@code source} at {@code position}. */
    void write(ByteBuffer source, long position) throws IOException;

    /** Forces what was written to the device. */
    void force() throws IOException;

    /** Maps a part of the file, shared and writable; it must lie within the file. */
    MappedRegion map(long position, long length) throws IOException;

    @Override
    void close() throws IOException;

    /** A mapped part of a file. The mapping lives as long as the buffer is reachable, also after the file is closed. */
    interface MappedRegion {
        /** The mapped bytes; aligned to 8 at index 0. */
        ByteBuffer buffer();

        /** Forces what was stored into it to the device. */
        void force() throws IOException;
    }
}
