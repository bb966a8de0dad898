/**
 * The RAM tier: whole objects in off-heap buffers under one byte budget. Lookups go to a table of our own; Caffeine
 * (W-TinyLFU) decides what is admitted and evicted and hears of hits in batches.
 */
@NullMarked
package io.millrace.store.memory;

import org.jspecify.annotations.NullMarked;
