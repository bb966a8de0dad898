package io.millrace.proxy.observe.log;

/** Turns a record into one line. Confined to the writer thread. */
sealed interface LineFormat permits SquidLines, CombinedLines {
    /** Appends the record's line with its line feed; the buffer has room for the longest one. */
    void append(LoggedRecord logged, LineBuffer out);

    /** The format of that name. */
    static LineFormat of(AccessLogFormat format) {
        return switch (format) {
            case SQUID -> new SquidLines();
            case COMBINED -> new CombinedLines();
        };
    }
}
