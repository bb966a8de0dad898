package io.millrace.proxy.observe.trace;

import java.nio.charset.StandardCharsets;

/**
 * The attributes of spans, with the names of OpenTelemetry's stable conventions for HTTP. There are no conventions for
 * caches, so the names of attributes about caching begin with {@code millrace.}. No attribute contains the client's
 * address.
 */
public enum SpanAttribute {
    /** The method; {@code _OTHER} for a method that the conventions do not list. */
    METHOD("http.request.method"),
    /** The method as received, if the conventions do not list it. */
    METHOD_ORIGINAL("http.request.method_original"),
    /** The scheme of the URL that the client requested. */
    URL_SCHEME("url.scheme"),
    /** The path of the URL that the client requested. */
    URL_PATH("url.path"),
    /** The query of the URL that the client requested. */
    URL_QUERY("url.query"),
    /** The URL at the origin. */
    URL_FULL("url.full"),
    /** The host of the URL. */
    SERVER_ADDRESS("server.address"),
    /** The port of the URL, a number. */
    SERVER_PORT("server.port"),
    /** The version of HTTP. */
    PROTOCOL_VERSION("network.protocol.version"),
    /** The field User-Agent. */
    USER_AGENT("user_agent.original"),
    /** The status of the response, a number. */
    STATUS("http.response.status_code"),
    /** The number of earlier requests to origins for the same response. */
    RESEND_COUNT("http.request.resend_count"),
    /** The kind of the failure. */
    ERROR_TYPE("error.type"),
    /** The cache result of the access log. */
    CACHE_RESULT("millrace.cache.result"),
    /** Whether a stored response came from RAM or from disk. */
    CACHE_TIER("millrace.cache.tier"),
    /** True if the response comes from the fetch of another request. */
    CACHE_COLLAPSED("millrace.cache.collapsed"),
    /** The cache rules that matched. */
    CACHE_RULES("millrace.cache.rules"),
    /** The remap rule. */
    RULE("millrace.rule"),
    /** The parameter {@code detail} of the response field Cache-Status (RFC 9211). */
    DETAIL("millrace.detail");

    private static final SpanAttribute[] VALUES = values();

    private final String text;

    SpanAttribute(String text) {
        this.text = text;
    }

    /** The name of the attribute, in ASCII. */
    public String text() {
        return text;
    }

    /** Returns the bytes of the names, in the order of {@link #index}. The caller owns the array. */
    public static byte[][] names() {
        byte[][] names = new byte[VALUES.length][];
        for (SpanAttribute each : VALUES) {
            names[each.index()] = each.text.getBytes(StandardCharsets.US_ASCII);
        }
        return names;
    }

    /** Index in arrays with one element per constant. */
    @SuppressWarnings("EnumOrdinal") // used only within the process: nothing depends on the order of the constants
    public int index() {
        return ordinal();
    }
}
