package io.millrace.store.io;

import java.io.Closeable;
import java.io.IOException;

/**
 * A small file that tells other processes something for as long as this one lives and keeps it.
 *
 * <p>Thread-safe.
 */
public interface HeldFile extends Closeable {
    /** Replaces the content. Who reads meanwhile may see parts of both: the content carries its own checksum. */
    void content(byte[] bytes) throws IOException;

    /** Deletes the file and lets go of it. */
    @Override
    void close() throws IOException;
}
