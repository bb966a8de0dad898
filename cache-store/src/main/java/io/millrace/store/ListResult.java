package io.millrace.store;

import org.jspecify.annotations.Nullable;

/**
 * The result of {@link CacheStore#list}.
 *
 * <p>Immutable.
 *
 * @param next the argument {@code after} for the next call; null at the end of the inventory (the table of
 *     stored objects)
 * @param isWhole whether the inventory contained every stored object during this whole call. False while missing
 *     entries are read from the segments. A listing is complete if this is true for each
 *     of its calls
 * @param obstacle reason why there is no inventory or no result; null on success
 */
public record ListResult(
        @Nullable String next, boolean isWhole, @Nullable String obstacle) {}
