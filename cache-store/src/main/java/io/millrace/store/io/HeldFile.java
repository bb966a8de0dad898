package io.millrace.store.io;

import java.io.Closeable;
import java.io.IOException;

/**
 * A small file that informs other processes as long as this process lives and holds it.
 *
 * <p>Thread-safe.
 */
public interface HeldFile extends Closeable {
    /** Replaces the content. A concurrent reader may read parts of both, so the content must contain a checksum. */
    void content(byte[] bytes) throws IOException;

    /** Deletes the file and releases its lock. */
    @Override
    void close() throws IOException;
}
