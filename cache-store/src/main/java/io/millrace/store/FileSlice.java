package io.millrace.store;

import java.nio.channels.FileChannel;

/**
 * A part of a body as it lies in a file: verified since the volume was opened, and when it was given out in the page cache
 * as far as one page tells, so that the system can send it without bringing it into this process (sendfile).
 *
 * <p>While it is held the bytes stay where they are and the channel stays open, unless the volume is closed for good: then
 * {@link #isOpen} turns false, and the bytes are another process's to overwrite.
 *
 * <p>Owned by whoever was given it, who releases it once, on any thread.
 */
public interface FileSlice {
    /** The file. Shared: never closed or moved by who is given it. */
    FileChannel channel();

    /** Where the slice starts in the file, in bytes. */
    long position();

    /** Bytes of the slice, at least one. */
    int length();

    /** Whether it may still be sent; to be asked before each try. */
    boolean isOpen();

    /** Gives it up. */
    void release();
}
