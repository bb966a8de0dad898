package io.millrace.proxy.http;

/** A request method (RFC 9110 s9, RFC 5789 for PATCH). Names are case-sensitive. */
public enum Method {
    GET(true, true),
    HEAD(true, true),
    POST(false, false),
    PUT(false, true),
    DELETE(false, true),
    OPTIONS(true, true),
    TRACE(true, true),
    PATCH(false, false),
    CONNECT(false, false),
    /** Removes a URL from a cache. Not registered, but supported by caches since Squid. */
    PURGE(false, true),
    /** Removes all URLs that match a pattern from a cache, as in Varnish. */
    BAN(false, true),
    /** Removes responses with tags from a cache; sent by FOSHttpCache. Not registered. */
    PURGEKEYS(false, true),
    /** Any other method. Treated as neither safe nor idempotent. */
    OTHER(false, false);

    private static final Method[] NAMED = {
        GET, HEAD, POST, PUT, DELETE, OPTIONS, TRACE, PATCH, CONNECT, PURGE, BAN, PURGEKEYS
    };

    private final boolean safe;
    private final boolean idempotent;

    Method(boolean safe, boolean idempotent) {
        this.safe = safe;
        this.idempotent = idempotent;
    }

    /** Returns the method with this name; {@link #OTHER} for other names. */
    public static Method of(CharSequence name) {
        for (Method method : NAMED) {
            if (method.name().contentEquals(name)) {
                return method;
            }
        }
        return OTHER;
    }

    /** Returns the method with the name in the range; {@link #OTHER} for other names. */
    public static Method of(byte[] bytes, int from, int to) {
        for (Method method : NAMED) {
            if (FieldLexer.equals(bytes, from, to, method.name())) {
                return method;
            }
        }
        return OTHER;
    }

    /** Returns true for a request that purges this cache. Such requests are never sent to an origin. */
    public boolean isPurge() {
        return this == PURGE || this == BAN || this == PURGEKEYS;
    }

    /** Returns true if the method requests no change (RFC 9110 s9.2.1). */
    public boolean isSafe() {
        return safe;
    }

    /** Returns true if repeated requests have the effect of one (RFC 9110 s9.2.2). */
    public boolean isIdempotent() {
        return idempotent;
    }
}
