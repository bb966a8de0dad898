package io.millrace.proxy.purge.record;

import java.io.IOException;
import java.util.List;

/** An append-only log of lines. Thread-safe; may block. */
interface PurgeLog {
    /**
     * Appends lines durably.
     *
     * @param lines lines, each with a line feed
     */
    void append(List<byte[]> lines) throws IOException;

    /** Returns all lines, oldest first, without line feeds. */
    List<String> lines() throws IOException;
}
