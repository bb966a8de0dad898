/** Replays request traces through the store's tiers, beside reference policies, and tells the hit ratios. */
@NullMarked
package io.millrace.bench.trace;

import org.jspecify.annotations.NullMarked;
