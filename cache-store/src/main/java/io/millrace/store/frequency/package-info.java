/** Counts of recent requests per key, in little memory. */
@NullMarked
package io.millrace.store.frequency;

import org.jspecify.annotations.NullMarked;
