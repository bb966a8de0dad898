/** The replay of request traces, to compare hit ratios of the store and of reference policies. */
@NullMarked
package io.millrace.bench.trace;

import org.jspecify.annotations.NullMarked;
