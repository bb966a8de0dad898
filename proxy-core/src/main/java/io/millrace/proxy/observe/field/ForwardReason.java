package io.millrace.proxy.observe.field;

/**
 * The reasons why a request was forwarded to the origin. They are the values of {@code fwd} in Cache-Status (RFC
 * 9211 section 2.2).
 */
public enum ForwardReason {
    /** The cache was configured not to handle this request. */
    BYPASS("bypass"),
    /** The method of the request requires that it is forwarded. */
    METHOD("method"),
    /** No stored response matches the URI. */
    URI_MISS("uri-miss"),
    /** A stored response matches the URI, but not the values of the fields named by Vary. */
    VARY_MISS("vary-miss"),
    /** No stored response could be used, for a reason that the proxy does not distinguish. */
    MISS("miss"),
    /** A fresh stored response could be used, but the request's directives did not allow it. */
    REQUEST("request"),
    /** The stored response was stale. */
    STALE("stale"),
    /** The stored response contains only a part of the requested content. */
    PARTIAL("partial");

    private final String token;

    ForwardReason(String token) {
        this.token = token;
    }

    /** The value of the parameter. */
    public String token() {
        return token;
    }

    /** Index in arrays with one element per constant. */
    @SuppressWarnings("EnumOrdinal") // used only within the process: nothing depends on the order of the constants
    int index() {
        return ordinal();
    }
}
