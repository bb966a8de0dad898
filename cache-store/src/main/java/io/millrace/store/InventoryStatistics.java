package io.millrace.store;

import org.jspecify.annotations.Nullable;

/**
 * Current sizes of the inventory (the table of stored objects), over all volumes.
 *
 * <p>Immutable.
 *
 * @param entries number of entries, including obsolete ones
 * @param bytes size of the inventory's files; no other statistic includes it
 * @param dropped number of entries that could not be kept in memory or written; they are read from the stored objects
 *     later
 * @param isWhole whether the inventory contains every stored object
 * @param obstacle reason why a volume has no inventory; null if every volume has one
 */
public record InventoryStatistics(
        long entries,
        long bytes,
        long dropped,
        boolean isWhole,
        @Nullable String obstacle) {}
