package io.millrace.proxy.purge.record;

import java.io.IOException;
import java.util.List;

/** Lines that are appended and read back. Thread-safe; may block. */
interface PurgeLog {
    /**
     * Appends lines durably.
     *
     * @param lines each with a line feed
     */
    void append(List<byte[]> lines) throws IOException;

    /** All lines that are kept, oldest first, without line feeds. */
    List<String> lines() throws IOException;
}
