/**
 * The RAM tier: whole objects in off-heap buffers under one byte budget. Lookups use a table of our own. Caffeine
 * (W-TinyLFU) decides about admission and eviction, and receives hits in batches.
 */
@NullMarked
package io.millrace.store.memory;

import org.jspecify.annotations.NullMarked;
