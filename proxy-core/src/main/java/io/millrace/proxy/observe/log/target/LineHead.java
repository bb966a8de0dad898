package io.millrace.proxy.observe.log.target;

import io.millrace.proxy.observe.log.LineBuffer;
import io.millrace.proxy.observe.log.LoggedRecord;

/** Writes the text before a line of one log, such as the header of a syslog message. One thread. */
public interface LineHead {
    /** Limit of the bytes that {@link #append} writes. */
    int MAX_BYTES = 1024;

    /** No text. */
    LineHead NONE = (logged, out) -> {};

    /** Appends at most {@link #MAX_BYTES} bytes, none of them a line feed. */
    void append(LoggedRecord logged, LineBuffer out);
}
