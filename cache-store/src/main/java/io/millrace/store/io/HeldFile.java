package io.millrace.store.io;

import java.io.Closeable;
import java.io.IOException;

/**
 * A small locked file that publishes content to other processes while this process lives.
 *
 * <p>Thread-safe.
 */
public interface HeldFile extends Closeable {
    /**
     * Replaces the content. A concurrent reader may read a mixture of old and new content, so the content must contain
     * a checksum.
     */
    void content(byte[] bytes) throws IOException;

    /** Deletes the file and releases its lock. */
    @Override
    void close() throws IOException;
}
