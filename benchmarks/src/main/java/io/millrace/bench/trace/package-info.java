/**
 * The replay of request traces through the tiers of the store and through reference policies, to compare hit ratios.
 */
@NullMarked
package io.millrace.bench.trace;

import org.jspecify.annotations.NullMarked;
