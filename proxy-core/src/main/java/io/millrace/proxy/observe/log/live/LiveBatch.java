package io.millrace.proxy.observe.log.live;

import java.util.List;

/**
 * The answer to a viewer. Immutable.
 *
 * @param viewer identifies the viewer in its next requests
 * @param records the records that the viewer has not confirmed, oldest first
 * @param lost records lost since the viewer began. They did not fit into the queue of the viewer, or into the ring of
 *     an event loop. Records lost in a ring count even if the filter does not match
 */
public record LiveBatch(String viewer, List<NumberedRecord> records, long lost) {}
