package io.millrace.proxy.purge.record;

import java.io.IOException;
import java.util.List;
import java.util.function.Consumer;

/**
 * An append-only log of text lines. {@code toString()} returns the name of its file. Thread-safe; methods may block.
 */
interface PurgeLog {
    /**
     * Appends lines durably.
     *
     * @param lines lines, each with a line feed
     */
    void append(List<byte[]> lines) throws IOException;

    /** Passes all lines to a visitor, oldest first, without line feeds. */
    void visit(Consumer<String> visitor) throws IOException;
}
