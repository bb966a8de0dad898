package io.millrace.proxy.observe.log;

/** Converts an access log record to one line. Confined to one thread. */
public sealed interface LineFormat permits SquidLines, CombinedLines, JsonLines, LogTemplate.TemplateLines {
    /** Appends the line of the record including its line feed. The buffer must have space for the longest line. */
    void append(LoggedRecord logged, LineBuffer out);

    /** The maximum length of a line in bytes. */
    default int maxLineBytes() {
        return LineBuffer.MAX_LINE_BYTES;
    }
}
