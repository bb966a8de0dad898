package io.millrace.store;

import org.jspecify.annotations.Nullable;

/**
 * Current sizes of the inventory, over all volumes.
 *
 * <p>Immutable.
 *
 * @param entries number of entries, including obsolete ones
 * @param bytes size of the inventory files, all memory-mapped; not part of any other statistic
 * @param dropped number of entries that did not fit, and of changes that arrived faster than they could be written;
 *     both are later restored from the segments
 * @param isWhole whether the inventory contains every stored object
 * @param obstacle reason why a volume has no inventory; null if every volume has one
 */
public record InventoryStatistics(
        long entries,
        long bytes,
        long dropped,
        boolean isWhole,
        @Nullable String obstacle) {}
