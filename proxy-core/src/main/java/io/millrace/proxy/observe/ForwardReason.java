package io.millrace.proxy.observe;

/** Why a request went to the origin: the values of {@code fwd} in Cache-Status (RFC 9211 section 2.2). */
public enum ForwardReason {
    /** The cache was configured not to handle this request. */
    BYPASS("bypass"),
    /** The method's semantics require it to be forwarded. */
    METHOD("method"),
    /** No stored response matches the URI. */
    URI_MISS("uri-miss"),
    /** A stored response matches the URI, but not the values of the fields named by Vary. */
    VARY_MISS("vary-miss"),
    /** No stored response could be used, for a reason that is not told apart. */
    MISS("miss"),
    /** A fresh stored response could be used, but the request's directives did not allow it. */
    REQUEST("request"),
    /** The stored response was stale. */
    STALE("stale"),
    /** The stored response has only a part of what was asked for. */
    PARTIAL("partial");

    private final String token;

    ForwardReason(String token) {
        this.token = token;
    }

    /** The parameter's value. */
    public String token() {
        return token;
    }

    /** The place in arrays that have one element per constant. */
    @SuppressWarnings("EnumOrdinal") // never leaves the process: nothing depends on the order of the constants
    int index() {
        return ordinal();
    }
}
