package io.millrace.proxy.observe.log;

/** Turns a record into one line. Confined to the writer thread. */
sealed interface LineFormat permits SquidLines, CombinedLines, JsonLines, LogTemplate.TemplateLines {
    /** Appends the record's line with its line feed; the buffer has room for the longest one. */
    void append(LoggedRecord logged, LineBuffer out);

    /** The most bytes that a line takes. */
    default int maxLineBytes() {
        return LineBuffer.MAX_LINE_BYTES;
    }
}
