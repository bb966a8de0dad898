/**
 * Opens the volumes of a store. Determines which volumes belong to the store, and completes their indexes. After kill
 * -9, an index is completed from the last records of the log. After a power failure or damage, it is rebuilt from the
 * summaries of the segments.
 */
@NullMarked
package io.millrace.store.recover;

import org.jspecify.annotations.NullMarked;
