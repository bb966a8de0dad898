package io.millrace.proxy.cache;

import org.jspecify.annotations.Nullable;

/**
 * The end of a listing. Immutable.
 *
 * @param responses number of responses that the receiver got
 * @param isComplete whether all stored responses were examined; a response that is not on disk yet may be missing
 * @param reason why the listing is incomplete; null if it is complete, or if the receiver ended it
 */
public record ListingEnd(
        long responses, boolean isComplete, @Nullable String reason) {}
