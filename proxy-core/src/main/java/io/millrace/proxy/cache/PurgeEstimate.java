package io.millrace.proxy.cache;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The stored responses that a purge would cover. Immutable.
 *
 * @param objects number of these responses
 * @param bytes bytes of the content of all these responses
 * @param urls URLs of these responses, each once, at most 20
 * @param hasMoreUrls whether the responses have further URLs, which {@code urls} does not contain
 * @param note the reason why {@code objects} may be too low; null if it is exact
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
