package io.millrace.proxy.fetch.response;

/**
 * How the end of a response's content is recognised (RFC 9112 s6.3).
 *
 * <p>Immutable.
 *
 * @param kind by what
 * @param contentLength bytes of content to come: exact for {@link Kind#NONE} (0) and {@link Kind#LENGTH}, -1 where unknown
 */
public record ResponseFraming(Kind kind, long contentLength) {

    /** By what the end is recognised. */
    public enum Kind {
        /** There is no content: the request was HEAD, or the status is 1xx, 204 or 304. */
        NONE,
        /** Content-Length. */
        LENGTH,
        /** The last chunk. */
        CHUNKED,
        /** The origin closes the connection; whether it did so too early nobody can tell. */
        CLOSE
    }

    public static final ResponseFraming NO_CONTENT = new ResponseFraming(Kind.NONE, 0);
    public static final ResponseFraming BY_CHUNKS = new ResponseFraming(Kind.CHUNKED, -1);
    static final ResponseFraming BY_CLOSE = new ResponseFraming(Kind.CLOSE, -1);

    /** Whether only the connection's end tells that the content is complete. */
    public boolean isCloseDelimited() {
        return kind == Kind.CLOSE;
    }
}
