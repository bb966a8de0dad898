package io.millrace.proxy.observe;

/**
 * What the cache did for one request: the word of the metric label {@code cache}, close to RFC 9211's vocabulary, and the
 * base of the result code in the {@code squid} log format. Immutable.
 */
public enum CacheResult {
    /** A fresh stored response was sent, whole, as a part, or as a 304. */
    HIT("hit", ServedFrom.CACHE),
    /** A stale stored response was sent without or in spite of the origin. */
    STALE("stale", ServedFrom.CACHE),
    /** The origin confirmed a stale stored response with a 304. */
    REVALIDATED("revalidated", ServedFrom.CACHE),
    /** A stale stored response was validated and the origin sent another one. */
    STALE_MISS("stale-miss", ServedFrom.ORIGIN),
    /** Nothing is stored for this URI ({@code fwd=uri-miss}). */
    URI_MISS("uri-miss", ServedFrom.ORIGIN),
    /** Something is stored, but for other values of the fields named by Vary ({@code fwd=vary-miss}). */
    VARY_MISS("vary-miss", ServedFrom.ORIGIN),
    /** The client's directives asked for the origin ({@code fwd=request}). */
    REQUEST("request", ServedFrom.ORIGIN),
    /** A part is stored, but not the part asked for ({@code fwd=partial}). */
    PARTIAL("partial", ServedFrom.ORIGIN),
    /** The method is not one that a cache answers ({@code fwd=method}). */
    METHOD("method", ServedFrom.ORIGIN),
    /** The cache is off for this request ({@code fwd=bypass}). */
    BYPASS("bypass", ServedFrom.ORIGIN),
    /** The proxy answered by itself: a refusal, an error, a redirect. */
    NONE("none", ServedFrom.PROXY);

    /** Who made the response: the label of the request duration. */
    enum ServedFrom {
        CACHE("cache"),
        ORIGIN("origin"),
        PROXY("proxy");

        private final String word;

        ServedFrom(String word) {
            this.word = word;
        }

        /** The place in arrays that have one element per constant. */
        @SuppressWarnings("EnumOrdinal") // never leaves the process: nothing depends on the order of the constants
        int index() {
            return ordinal();
        }

        String word() {
            return word;
        }
    }

    private final String word;
    private final ServedFrom servedFrom;

    CacheResult(String word, ServedFrom servedFrom) {
        this.word = word;
        this.servedFrom = servedFrom;
    }

    /** The stable word for logs and metric labels. */
    public String word() {
        return word;
    }

    /** The place in arrays that have one element per constant. */
    @SuppressWarnings("EnumOrdinal") // never leaves the process: nothing depends on the order of the constants
    int index() {
        return ordinal();
    }

    ServedFrom servedFrom() {
        return servedFrom;
    }
}
