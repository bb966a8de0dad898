package io.millrace.proxy.caching;

/**
 * What an operator decides about caching, globally or for one remap rule. The defaults follow RFC 9111. Immutable.
 *
 * @param enabled whether anything is stored or reused at all
 * @param heuristicFactor share of the time between Last-Modified and Date that a response without lifetime stays fresh
 *     (RFC 9111 s4.2.2), 0 to 1
 * @param heuristicMinSeconds lower bound of a heuristic lifetime
 * @param heuristicMaxSeconds upper bound of a heuristic lifetime; it wins over the lower one
 * @param maxStaleSeconds how long past its lifetime a response may still be served when the origin fails, unless the
 *     response says otherwise (RFC 9111 s4.2.4)
 * @param maxObjectBytes the longest content that is stored; 0 for no limit of its own
 * @param requiredHeaders what a 200 response must carry to be stored
 * @param ignoreClientNoCache whether the client's no-cache, no-store and Pragma are ignored
 * @param ignoreClientMaxAge whether the client's max-age is ignored
 */
public record CacheSettings(
        boolean enabled,
        double heuristicFactor,
        long heuristicMinSeconds,
        long heuristicMaxSeconds,
        long maxStaleSeconds,
        long maxObjectBytes,
        RequiredHeaders requiredHeaders,
        boolean ignoreClientNoCache,
        boolean ignoreClientMaxAge) {

    /** What a 200 response must carry to be stored. */
    public enum RequiredHeaders {
        /** Nothing: what RFC 9111 allows is stored. */
        NONE("none"),
        /** Last-Modified, Expires, max-age or s-maxage. */
        LAST_MODIFIED("last_modified"),
        /** Expires, max-age or s-maxage. */
        LIFETIME("lifetime");

        private final String text;

        RequiredHeaders(String text) {
            this.text = text;
        }

        /** The word that stands for it in a configuration file. */
        public String text() {
            return text;
        }
    }

    /** The settings of a cache that nobody configured. */
    public static final CacheSettings DEFAULTS = builder().build();

    /**
     * Checks the bounds.
     *
     * @throws IllegalArgumentException when one is crossed
     */
    public CacheSettings {
        require(heuristicFactor >= 0 && heuristicFactor <= 1, "heuristicFactor is not within 0 to 1");
        require(heuristicMinSeconds >= 0, "heuristicMinSeconds is negative");
        require(heuristicMaxSeconds >= 0, "heuristicMaxSeconds is negative");
        require(maxStaleSeconds >= 0, "maxStaleSeconds is negative");
        require(maxObjectBytes >= 0, "maxObjectBytes is negative");
    }

    /** Whether content of that length may be stored; a length not yet known, -1, may. */
    public boolean allowsLength(long length) {
        return maxObjectBytes == 0 || length <= maxObjectBytes;
    }

    /** A builder that starts with the defaults. */
    public static Builder builder() {
        return new Builder();
    }

    /** A builder that starts with these settings, for one rule's overrides. */
    public Builder toBuilder() {
        return new Builder()
                .enabled(enabled)
                .heuristicFactor(heuristicFactor)
                .heuristicMinSeconds(heuristicMinSeconds)
                .heuristicMaxSeconds(heuristicMaxSeconds)
                .maxStaleSeconds(maxStaleSeconds)
                .maxObjectBytes(maxObjectBytes)
                .requiredHeaders(requiredHeaders)
                .ignoreClientNoCache(ignoreClientNoCache)
                .ignoreClientMaxAge(ignoreClientMaxAge);
    }

    private static void require(boolean condition, String problem) {
        if (!condition) {
            throw new IllegalArgumentException(problem);
        }
    }

    /** Collects settings, starting with the defaults. Confined to one thread. */
    public static final class Builder {

        private boolean enabled = true;
        private double heuristicFactor = 0.1;
        private long heuristicMinSeconds = 3_600;
        private long heuristicMaxSeconds = 86_400;
        private long maxStaleSeconds = 604_800;
        private long maxObjectBytes;
        private RequiredHeaders requiredHeaders = RequiredHeaders.NONE;
        private boolean ignoreClientNoCache;
        private boolean ignoreClientMaxAge;

        private Builder() {}

        public Builder enabled(boolean value) {
            enabled = value;
            return this;
        }

        public Builder heuristicFactor(double value) {
            heuristicFactor = value;
            return this;
        }

        public Builder heuristicMinSeconds(long value) {
            heuristicMinSeconds = value;
            return this;
        }

        public Builder heuristicMaxSeconds(long value) {
            heuristicMaxSeconds = value;
            return this;
        }

        public Builder maxStaleSeconds(long value) {
            maxStaleSeconds = value;
            return this;
        }

        public Builder maxObjectBytes(long value) {
            maxObjectBytes = value;
            return this;
        }

        public Builder requiredHeaders(RequiredHeaders value) {
            requiredHeaders = value;
            return this;
        }

        public Builder ignoreClientNoCache(boolean value) {
            ignoreClientNoCache = value;
            return this;
        }

        public Builder ignoreClientMaxAge(boolean value) {
            ignoreClientMaxAge = value;
            return this;
        }

        /**
         * The settings.
         *
         * @throws IllegalArgumentException when one is out of bounds
         */
        public CacheSettings build() {
            return new CacheSettings(
                    enabled,
                    heuristicFactor,
                    heuristicMinSeconds,
                    heuristicMaxSeconds,
                    maxStaleSeconds,
                    maxObjectBytes,
                    requiredHeaders,
                    ignoreClientNoCache,
                    ignoreClientMaxAge);
        }
    }
}
