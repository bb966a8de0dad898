package io.millrace.proxy.observe.log.target;

import io.millrace.proxy.observe.log.LineBuffer;
import io.millrace.proxy.observe.log.LoggedRecord;

/** Writes the text before a line of an access log, such as a syslog header. Confined to one thread. */
public interface LineHead {
    /** Limit of the bytes that {@link #append} writes. */
    int MAX_BYTES = 1024;

    /** Writes nothing. */
    LineHead NONE = (logged, out) -> {};

    /** Appends at most {@link #MAX_BYTES} bytes, without a line feed. */
    void append(LoggedRecord logged, LineBuffer out);
}
