package io.millrace.proxy.fetch.response;

/**
 * The framing of a response: how a recipient detects the end of its content (RFC 9112 s6.3).
 *
 * <p>Immutable.
 *
 * @param kind the delimiter
 * @param contentLength bytes of content to come: exact for {@link Kind#NONE} (0) and {@link Kind#LENGTH}, -1 when
 *     unknown
 */
public record ResponseFraming(Kind kind, long contentLength) {

    /** The delimiter of the content. */
    public enum Kind {
        /** There is no content: the request was HEAD, or the status is 1xx, 204 or 304. */
        NONE,
        /** Content-Length. */
        LENGTH,
        /** The last chunk. */
        CHUNKED,
        /** The origin closes the connection. Without TLS, a premature close cannot be detected. */
        CLOSE
    }

    public static final ResponseFraming NO_CONTENT = new ResponseFraming(Kind.NONE, 0);
    public static final ResponseFraming BY_CHUNKS = new ResponseFraming(Kind.CHUNKED, -1);
    static final ResponseFraming BY_CLOSE = new ResponseFraming(Kind.CLOSE, -1);

    /** Returns true if the content ends with the connection. */
    public boolean isCloseDelimited() {
        return kind == Kind.CLOSE;
    }
}
