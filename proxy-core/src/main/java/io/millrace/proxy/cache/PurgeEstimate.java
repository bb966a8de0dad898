package io.millrace.proxy.cache;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The stored responses that a purge would cover. Immutable.
 *
 * @param objects their number
 * @param bytes the bytes of their content
 * @param urls the first of their URLs, each once, at most 20
 * @param hasMoreUrls whether they have more URLs
 * @param note the reason why the number may be too low; null if it is exact
 */
public record PurgeEstimate(
        long objects,
        long bytes,
        List<String> urls,
        boolean hasMoreUrls,
        @Nullable String note) {
    /** Copies the list. */
    public PurgeEstimate {
        urls = List.copyOf(urls);
    }
}
