package io.millrace.proxy.spi.log;

/** The texts of an {@link AccessRecord}. Longer texts are truncated to the length in parentheses, in bytes. */
public enum AccessText {
    /** The method (32). */
    METHOD,
    /** The URL that the client requested, absolute (4096). */
    URL,
    /** The host of the origin, without the port (255); absent if no rule maps the request. */
    ORIGIN_HOST,
    /** The Content-Type of the response (128). */
    CONTENT_TYPE,
    /** The Referer of the request (2048). */
    REFERER,
    /** The User-Agent of the request (512). */
    USER_AGENT,
    /** The reason for the outcome, as in the parameter {@code detail} of Cache-Status (255). */
    DETAIL,
    /** The TLS version of the client's connection (32). */
    TLS_VERSION,
    /** The cipher suite of the client's connection (64). */
    TLS_CIPHER,
    /** The server name in the client's TLS hello (255). */
    TLS_SERVER_NAME,
    /** The subject of the client's certificate (512). */
    TLS_CLIENT_SUBJECT,
    /** The trace id, 32 hexadecimal digits (32); absent while traces are off. */
    TRACE_ID
}
