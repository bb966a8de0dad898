package io.millrace.proxy.cache;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The result of a lookup. Immutable.
 *
 * @param url the URL after parsing
 * @param key the cache key, printable; null without a matching remap rule
 * @param rule the remap rule; null for none
 * @param stored the selected response; null for none
 * @param reason a sentence that explains why a request would get the response or not
 * @param others results for the other cache keys that the URL has on other listening ports; usually empty
 */
public record CacheLookup(
        String url,
        @Nullable String key,
        @Nullable String rule,
        @Nullable Stored stored,
        String reason,
        List<CacheLookup> others) {
    /** Copies the list. */
    public CacheLookup {
        others = List.copyOf(others);
    }

    /**
     * A stored response. Immutable.
     *
     * @param isInRam whether it is in RAM; otherwise it is on disk only
     * @param status the status code
     * @param isFresh whether a request is answered without a request to the origin
     * @param ageSeconds the current age (RFC 9111 section 4.2.3)
     * @param lifetimeSeconds the freshness lifetime (RFC 9111 section 4.2.1)
     * @param length bytes of the content
     * @param vary the names of the request fields that select it
     * @param entityTag the entity tag; null for none
     * @param lastModified the value of Last-Modified; null for none
     * @param tags its tags
     */
    public record Stored(
            boolean isInRam,
            int status,
            boolean isFresh,
            long ageSeconds,
            long lifetimeSeconds,
            long length,
            List<String> vary,
            @Nullable String entityTag,
            @Nullable String lastModified,
            List<String> tags) {
        /** Copies the lists. */
        public Stored {
            vary = List.copyOf(vary);
            tags = List.copyOf(tags);
        }
    }
}
