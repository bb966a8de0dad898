package io.millrace.store;

import org.jspecify.annotations.Nullable;

/**
 * The result of a listing.
 *
 * <p>Immutable.
 *
 * @param next the position for the next call; null at the end of the inventory
 * @param isWhole whether the inventory contains every stored object. False while it is being built from the segments,
 *     and after entries did not fit
 * @param obstacle reason why there is no inventory or no result; null on success
 */
public record ListResult(
        @Nullable String next, boolean isWhole, @Nullable String obstacle) {}
