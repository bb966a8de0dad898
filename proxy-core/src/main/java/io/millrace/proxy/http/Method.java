package io.millrace.proxy.http;

/** A request method (RFC 9110 s9, RFC 5789 for PATCH); names are compared byte for byte. */
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
    /** Take a URL out of a cache: not registered, but what caches are asked since Squid. */
    PURGE(false, true),
    /** Take what a pattern matches out of a cache, as scripts ask Varnish. */
    BAN(false, true),
    /** Any other method: neither safe nor idempotent as far as this cache knows. */
    OTHER(false, false);

    private static final Method[] NAMED = {GET, HEAD, POST, PUT, DELETE, OPTIONS, TRACE, PATCH, CONNECT, PURGE, BAN};

    private final boolean safe;
    private final boolean idempotent;

    Method(boolean safe, boolean idempotent) {
        this.safe = safe;
        this.idempotent = idempotent;
    }

    /** The method of that name, {@link #OTHER} for names not listed here. */
    public static Method of(CharSequence name) {
        for (Method method : NAMED) {
            if (method.name().contentEquals(name)) {
                return method;
            }
        }
        return OTHER;
    }

    /** The method whose name is in the range, {@link #OTHER} for names not listed here. */
    public static Method of(byte[] bytes, int from, int to) {
        for (Method method : NAMED) {
            if (FieldLexer.equals(bytes, from, to, method.name())) {
                return method;
            }
        }
        return OTHER;
    }

    /** Whether a request with it asks for no change (RFC 9110 s9.2.1). */
    public boolean isSafe() {
        return safe;
    }

    /** Whether repeating it has the effect of doing it once (RFC 9110 s9.2.2). */
    public boolean isIdempotent() {
        return idempotent;
    }
}
