package io.millrace.store;

import org.jspecify.annotations.Nullable;

/**
 * Current sizes of the inventory (the table of stored objects), over all volumes.
 *
 * <p>Immutable.
 *
 * @param entries number of entries, including obsolete ones
 * @param bytes size of the inventory files, which are memory-mapped; no other statistic includes it
 * @param dropped number of entries that did not fit, plus number of changes that arrived faster than they could be
 *     written. A rebuild of the inventory from the segments restores the lost entries
 * @param isWhole whether the inventory contains every stored object
 * @param obstacle reason why a volume has no inventory; null if every volume has one
 */
public record InventoryStatistics(
        long entries,
        long bytes,
        long dropped,
        boolean isWhole,
        @Nullable String obstacle) {}
