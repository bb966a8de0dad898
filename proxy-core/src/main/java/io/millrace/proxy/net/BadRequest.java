package io.millrace.proxy.net;

/** The reasons to refuse an invalid request of a client, each with a status code. */
public enum BadRequest {
    /** Not HTTP/1.x syntax (RFC 9112 s2.2). */
    SYNTAX(400, "malformed request"),
    /** Content-Length and Transfer-Encoding contradict each other or themselves (RFC 9112 s6.3). */
    FRAMING(400, "ambiguous message framing"),
    /** A transfer coding that this proxy does not know (RFC 9112 s6.1). */
    TRANSFER_CODING(501, "unknown transfer coding"),
    /** Host is missing, repeated or invalid (RFC 9112 s3.2). */
    HOST(400, "missing or malformed Host"),
    /** The request target has none of the four forms, or an invalid part (RFC 9112 s3.2). */
    TARGET(400, "malformed request target"),
    /** The certificate of the connection does not cover the host of an https URL (RFC 9110 s7.4). */
    MISDIRECTED(
            421, "the certificate of this connection is not valid for the host: open a new connection for the host"),
    /** Extended CONNECT for a protocol other than WebSocket (RFC 8441 s4). */
    TUNNEL(501, "extended CONNECT is supported for the protocol websocket only"),
    /** The request line is longer than limits.request_line. */
    LINE_TOO_LONG(414, "request line longer than limits.request_line"),
    /** The field section is larger than limits.request_header. */
    HEADER_TOO_LARGE(431, "request header larger than limits.request_header"),
    /** The content is larger than limits.request_body. */
    CONTENT_TOO_LARGE(413, "request content larger than limits.request_body"),
    /** A major version other than 1 (RFC 9110 s15.6.6). */
    VERSION(505, "HTTP version not supported"),
    /** The client shut down its output in the middle of the content (RFC 9112 s8). */
    CONTENT_INCOMPLETE(400, "the client closed its sending side before the request content was complete"),
    /** The head did not arrive within timeouts.client_header. */
    HEADER_TIMEOUT(408, "request header not complete within timeouts.client_header"),
    /** No content arrived within timeouts.client_body. */
    CONTENT_TIMEOUT(408, "no request content received within timeouts.client_body"),
    /** The content arrives more slowly than limits.request_body_rate. */
    CONTENT_RATE(408, "request content slower than limits.request_body_rate");

    private final int status;
    private final String text;

    BadRequest(int status, String text) {
        this.status = status;
        this.text = text;
    }

    /** The status of the response. */
    public int status() {
        return status;
    }

    /** Stable text for the log and the response. */
    public String text() {
        return text;
    }
}
