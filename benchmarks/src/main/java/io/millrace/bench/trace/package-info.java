/** Replays request traces through the store's tiers and through reference policies, and reports the hit ratios. */
@NullMarked
package io.millrace.bench.trace;

import org.jspecify.annotations.NullMarked;
