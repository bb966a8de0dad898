package io.millrace.proxy.cache;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A response on disk, in a listing. Immutable.
 *
 * @param url the URL in the cache key
 * @param variant the selecting request fields as {@code Name: value}; null without variants
 * @param status the status code
 * @param contentType the Content-Type; null for none
 * @param length bytes of the content; -1 while not known
 * @param isWhole whether the whole content is stored
 * @param storedAtSeconds time of storing or of the last validation, in epoch seconds
 * @param keptUntilSeconds end of the time in which it is fresh, may be served stale, or may be validated, in epoch
 *     seconds
 * @param tags its tags
 */
public record CachedResponse(
        String url,
        @Nullable String variant,
        int status,
        @Nullable String contentType,
        long length,
        boolean isWhole,
        long storedAtSeconds,
        long keptUntilSeconds,
        List<String> tags) {
    /** Copies the list. */
    public CachedResponse {
        tags = List.copyOf(tags);
    }
}
