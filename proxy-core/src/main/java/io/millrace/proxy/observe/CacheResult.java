package io.millrace.proxy.observe;

/**
 * How the cache handled one request, in terms similar to RFC 9211. The values appear in the metric label {@code cache},
 * and determine the result code in the {@code squid} log format. Immutable.
 */
public enum CacheResult {
    /** A fresh stored response was sent, in full, in part, or as a 304. */
    HIT("hit", ServedFrom.CACHE),
    /** A stale stored response was sent, without contacting the origin or after a failure of the origin. */
    STALE("stale", ServedFrom.CACHE),
    /** The origin confirmed a stale stored response with a 304. */
    REVALIDATED("revalidated", ServedFrom.CACHE),
    /** A stale stored response was validated, and the origin sent another response. */
    STALE_MISS("stale-miss", ServedFrom.ORIGIN),
    /** No response is stored for this URI ({@code fwd=uri-miss}). */
    URI_MISS("uri-miss", ServedFrom.ORIGIN),
    /** Responses are stored for this URI, but for other values of the fields named by Vary ({@code fwd=vary-miss}). */
    VARY_MISS("vary-miss", ServedFrom.ORIGIN),
    /** The client's directives required the origin ({@code fwd=request}). */
    REQUEST("request", ServedFrom.ORIGIN),
    /** A part of the response is stored, but not the requested part ({@code fwd=partial}). */
    PARTIAL("partial", ServedFrom.ORIGIN),
    /** Caches do not answer requests with this method ({@code fwd=method}). */
    METHOD("method", ServedFrom.ORIGIN),
    /** The cache is off for this request ({@code fwd=bypass}). */
    BYPASS("bypass", ServedFrom.ORIGIN),
    /** The proxy generated the response: a denial, an error or a redirect. */
    NONE("none", ServedFrom.PROXY);

    /** The source of the response, a label of the metric of request durations. */
    enum ServedFrom {
        CACHE("cache"),
        ORIGIN("origin"),
        PROXY("proxy");

        private final String word;

        ServedFrom(String word) {
            this.word = word;
        }

        /** Index in arrays with one element per constant. */
        @SuppressWarnings("EnumOrdinal") // used only within the process: nothing depends on the order of the constants
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

    /** The stable name for logs and metric labels. */
    public String word() {
        return word;
    }

    /** Index in arrays with one element per constant. */
    @SuppressWarnings("EnumOrdinal") // used only within the process: nothing depends on the order of the constants
    int index() {
        return ordinal();
    }

    ServedFrom servedFrom() {
        return servedFrom;
    }
}
