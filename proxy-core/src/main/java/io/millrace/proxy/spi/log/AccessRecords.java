package io.millrace.proxy.spi.log;

import org.jspecify.annotations.Nullable;

/**
 * The records of one call of {@link AccessLogSink#records}, in the order in which the requests of an event loop ended.
 *
 * <p>Valid during the call only, and on its thread.
 */
public interface AccessRecords {
    /** The number of all records of the call. */
    int size();

    /**
     * Returns the next record; null after the last.
     *
     * @return the same object each time, with other values
     */
    @Nullable
    AccessRecord next();
}
