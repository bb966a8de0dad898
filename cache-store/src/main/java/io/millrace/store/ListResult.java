package io.millrace.store;

import org.jspecify.annotations.Nullable;

/**
 * How a listing ended.
 *
 * <p>Immutable.
 *
 * @param next where to go on, for the next call; null when everything was seen
 * @param isWhole whether the inventory knows every stored object. False while it is being written from the segments,
 *     and when entries did not fit it
 * @param obstacle why there is no inventory, or no answer; null when there is
 */
public record ListResult(
        @Nullable String next, boolean isWhole, @Nullable String obstacle) {}
