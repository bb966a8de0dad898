/**
 * Opening of volumes. Determines which volumes belong to the store, and completes an index: from the last records of
 * the log after kill -9, from the segments' summaries after a power failure or damage.
 */
@NullMarked
package io.millrace.store.recover;

import org.jspecify.annotations.NullMarked;
