package io.millrace.proxy.caching.settings;

/** The source of a response's freshness lifetime (RFC 9111 s4.2.1). */
public enum LifetimeSource {
    /** {@code s-maxage}. */
    SHARED_MAX_AGE(1, "s-maxage"),
    /** {@code max-age}. */
    MAX_AGE(2, "max-age"),
    /** Expires minus Date. */
    EXPIRES(3, "expires"),
    /** A fraction of Date minus Last-Modified (s4.2.2). */
    HEURISTIC(4, "heuristic"),
    /** The configured lifetime for responses without one ({@code LifetimeRules.NegativeCaching}). */
    NEGATIVE(5, "negative"),
    /**
     * A heuristic lifetime is refused because of cookies or credentials ({@code LifetimeRules.HeuristicWithCookies});
     * the lifetime is 0.
     */
    WITHHELD(6, "withheld"),
    /** No source: the lifetime is 0, or the configured minimum. */
    NONE(0, "none");

    private static final LifetimeSource[] VALUES = values();

    private final int code;
    private final String text;

    LifetimeSource(int code, String text) {
        this.code = code;
        this.text = text;
    }

    /** Stable name for logs and for answers about stored responses. */
    public String text() {
        return text;
    }

    /** Returns true if the lifetime is explicit in the response, and not a heuristic or configured. */
    public boolean isExplicit() {
        return this == SHARED_MAX_AGE || this == MAX_AGE || this == EXPIRES;
    }

    /** Stable number in stored heads. */
    public int code() {
        return code;
    }

    public static LifetimeSource ofCode(int code) {
        for (LifetimeSource source : VALUES) {
            if (source.code == code) {
                return source;
            }
        }
        throw new IllegalArgumentException("no lifetime source has code " + code);
    }
}
