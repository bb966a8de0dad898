package io.millrace.store;

import org.jspecify.annotations.Nullable;

/**
 * The inventory as of now, over all volumes.
 *
 * <p>Immutable.
 *
 * @param entries entries, with those that nothing counts any more
 * @param bytes bytes of its files, all of them mapped; they are in no other figure
 * @param dropped entries that did not fit, and changes that came faster than they were written; both are made up for
 *     from the segments
 * @param isWhole whether it knows every stored object
 * @param obstacle why a volume has none; null when every volume has
 */
public record InventoryStatistics(
        long entries,
        long bytes,
        long dropped,
        boolean isWhole,
        @Nullable String obstacle) {}
