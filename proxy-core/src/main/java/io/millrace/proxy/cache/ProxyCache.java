package io.millrace.proxy.cache;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;

/**
 * The stored responses of a running proxy. The results are those of the admin API and of {@code millctl}.
 *
 * <p>Thread-safe. A method never blocks: the calling thread begins the work, and threads of the store do it. Each stage
 * completes on the executor of this object, where receivers and dependent stages run too. They may block. A stage fails
 * with a {@link CacheException} if the request is not valid, the storage fails, or the proxy is closed.
 */
public interface ProxyCache {
    /**
     * Looks up the stored response of a URL. Counts no hit, and sends no request to the origin.
     *
     * @param url an absolute http or https URL, as clients request it
     */
    default CompletionStage<CacheLookup> lookup(String url) {
        return lookup(url, Map.of());
    }

    /**
     * Looks up the stored response of a URL for request fields, which select a variant (RFC 9110 section 12.5.5).
     *
     * @param fields values by name
     */
    CompletionStage<CacheLookup> lookup(String url, Map<String, String> fields);

    /**
     * Purges stored responses. The purge is recorded ({@code millctl purge list}), and shared with the other nodes of a
     * fleet.
     *
     * @return completes when the purge is durable
     */
    CompletionStage<PurgeResult> purge(CachePurge purge);

    /**
     * Counts the stored responses that a purge would cover, and changes nothing (dry run). Needs a storage path: the
     * RAM tier has no inventory. At most four counts of a proxy run at the same time.
     *
     * @return completes when all are counted, which takes seconds for millions of responses
     */
    CompletionStage<PurgeEstimate> count(CachePurge purge);

    /**
     * Lists the responses on disk, in no particular order. The receiver gets one response after another. More responses
     * are read only when the receiver has taken the earlier ones, so that a listing of any length needs little memory.
     * A response that is stored or removed during the listing may be listed or not.
     *
     * @param receiver returns false to end the listing
     * @return completes after the last response; with the exception of the receiver if it throws one
     */
    CompletionStage<ListingEnd> list(CacheQuery query, Predicate<? super CachedResponse> receiver);

    /**
     * Returns the estimated hit ratios of other sizes of the RAM tier; empty if {@code cache.curve} is false or there
     * is no RAM tier.
     */
    CompletionStage<Optional<CacheCurve>> curve();
}
