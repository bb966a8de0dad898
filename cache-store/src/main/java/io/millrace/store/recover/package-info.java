/**
 * Opening volumes: who belongs to the store, and making an index whole again: from the last records of the log after
 * kill -9, from the segments' summaries after a power failure or damage.
 */
@NullMarked
package io.millrace.store.recover;

import org.jspecify.annotations.NullMarked;
