/**
 * The RAM tier: whole objects in off-heap buffers under one byte budget. A hash table ({@code RamTable}) answers
 * lookups. {@code EvictionPolicy} (W-TinyLFU) decides about admission and eviction, and receives the hits in batches.
 */
@NullMarked
package io.millrace.store.memory;

import org.jspecify.annotations.NullMarked;
