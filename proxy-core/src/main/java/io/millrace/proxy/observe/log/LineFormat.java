package io.millrace.proxy.observe.log;

/** Converts an access log record to one line, or to a row of a block; or copies it. Confined to one thread. */
public sealed interface LineFormat
        permits SquidLines, CombinedLines, JsonLines, BinaryLines, LogTemplate.TemplateLines, LoggedRecord.CopyFormat {
    /**
     * Appends the record: a line including its line feed, a row, or a copy. The buffer must have space for the longest
     * line.
     */
    void append(LoggedRecord logged, LineBuffer out);

    /** The maximum length of a line in bytes. */
    default int maxLineBytes() {
        return LineBuffer.MAX_LINE_BYTES;
    }
}
