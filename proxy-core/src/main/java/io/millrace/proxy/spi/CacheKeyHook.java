package io.millrace.proxy.spi;

/**
 * The hook for cache keys. It divides the responses of one URL by values of the request.
 *
 * <p>An implementation must be a pure function: the same request always gives the same parts, without side effects. Dry
 * runs ({@code millctl explain}) call it too, without the attributes of other hooks. A purge of a URL purges the
 * responses for all parts.
 *
 * <p>After a failure, the proxy by default forwards the request to the origin without use of the cache ({@code
 * on_error: open}).
 */
public interface CacheKeyHook {
    /** Adds parts to the key of a request. Called on an event loop. The request has the attributes of earlier hooks. */
    void cacheKey(RequestView request, Parts parts);

    /** The parts of a key. At most 16 parts with 1024 bytes in all. */
    interface Parts {
        /**
         * Appends a part. The order of parts counts.
         *
         * @throws IllegalStateException beyond the limits
         */
        void add(String part);
    }
}
