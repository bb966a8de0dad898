package io.millrace.proxy.http1;

import io.millrace.proxy.http.FieldLexer;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.RecentHost;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;

/**
 * Recognizes plain GET and HEAD requests in bytes. A plain request has a target in origin-form, version HTTP/1.0 or
 * 1.1, and fields of visible ASCII. It has no content, no upgrade and no range. {@link ParsedRequest} and Netty's
 * decoder accept every plain request with the same meaning. For all other bytes the result is {@link #NOT_PLAIN}. The
 * scanner refuses no request; the decoder decides about the other bytes.
 *
 * <p>The head is a view of the caller's array, valid until the array or this scanner is used again.
 *
 * <p>Confined to one event loop.
 */
final class PlainRequestScanner {
    /** Result for bytes that are not a plain request, or only the beginning of one. */
    static final int NOT_PLAIN = -1;

    /** Limit of field lines. Browsers do not reach it. */
    private static final int LINES_MAX = 128;

    private static final byte[] GET = {'G', 'E', 'T', ' '};
    private static final byte[] HEAD = {'H', 'E', 'A', 'D', ' '};
    private static final byte[] VERSION = {' ', 'H', 'T', 'T', 'P', '/', '1', '.'};

    /** Fields that change the framing, the protocol or the range. */
    private static final FieldName[] NOT_IN_PLAIN = {
        FieldName.CONTENT_LENGTH,
        FieldName.TRANSFER_ENCODING,
        FieldName.UPGRADE,
        FieldName.EXPECT,
        FieldName.TRAILER,
        FieldName.HTTP2_SETTINGS,
        FieldName.SEC_WEBSOCKET_KEY1,
        FieldName.RANGE
    };

    private static final long NOT_IN_PLAIN_SET = FieldSection.setOf(NOT_IN_PLAIN);

    private final FieldSection fields = FieldSection.reusable(LINES_MAX);

    private final RecentHost recentHost;

    private RequestHead head;
    private boolean persistent;
    private int lineLength;
    /** Position after the empty line that ends the head. */
    private int position;

    /** @param secure whether the bytes came over TLS, which determines the scheme of targets in origin-form */
    @SuppressWarnings("NullAway.Init") // head is read only after a successful scan
    PlainRequestScanner(boolean secure) {
        this.recentHost = new RecentHost(secure);
    }

    /**
     * Scans a plain request that begins at {@code from}.
     *
     * @param bytes borrowed; {@link #head} is a view of it
     * @return the length of the request with its empty line, or {@link #NOT_PLAIN}
     */
    int scan(byte[] bytes, int from, int to, Http1Settings settings) {
        Method method = startsWith(bytes, from, to, GET) ? Method.GET : Method.HEAD;
        int targetStart = from + (method == Method.GET ? GET.length : HEAD.length);
        if (method == Method.HEAD && !startsWith(bytes, from, to, HEAD)) {
            return NOT_PLAIN;
        }
        int targetEnd = targetStart;
        while (targetEnd < to && bytes[targetEnd] > ' ' && bytes[targetEnd] != 0x7f) {
            targetEnd++;
        }
        int minorVersion = minorVersion(bytes, targetEnd, to);
        if (minorVersion < 0 || targetEnd == targetStart || bytes[targetStart] != '/') {
            return NOT_PLAIN;
        }
        int fieldsStart = targetEnd + VERSION.length + 3;
        lineLength = fieldsStart - from;
        if (lineLength > settings.requestLineBytesMax() || !readFields(bytes, fieldsStart, to)) {
            return NOT_PLAIN;
        }
        if (position - fieldsStart > settings.headerBytesMax() || !isPlain(minorVersion)) {
            return NOT_PLAIN;
        }
        if (!(TargetUri.parse(method, bytes, targetStart, targetEnd, fields, minorVersion, recentHost)
                instanceof TargetUri target)) {
            return NOT_PLAIN;
        }
        head = RequestHead.of(method, target, minorVersion, fields);
        return position - from;
    }

    /** The request of the last successful {@link #scan}. */
    RequestHead head() {
        return head;
    }

    /** Returns true if the request permits a persistent connection. */
    boolean isPersistent() {
        return persistent;
    }

    /** Length of the request line with its line end. */
    int lineLength() {
        return lineLength;
    }

    private static boolean startsWith(byte[] bytes, int from, int to, byte[] prefix) {
        if (to - from < prefix.length) {
            return false;
        }
        for (int i = 0; i < prefix.length; i++) {
            if (bytes[from + i] != prefix[i]) {
                return false;
            }
        }
        return true;
    }

    /** Returns the digit if a space, {@code HTTP/1.0} or {@code HTTP/1.1}, and CRLF follow; else -1. */
    private static int minorVersion(byte[] bytes, int from, int to) {
        int at = from + VERSION.length;
        if (at + 3 > to || !startsWith(bytes, from, to, VERSION) || bytes[at + 1] != '\r' || bytes[at + 2] != '\n') {
            return -1;
        }
        int minor = bytes[at] - '0';
        return minor == 0 || minor == 1 ? minor : -1;
    }

    /**
     * Reads {@code Name: value CRLF} lines up to the empty line, and sets the position after it. Values are visible
     * ASCII, space and tab, a subset of RFC 9110 s5.5.
     */
    private boolean readFields(byte[] bytes, int from, int to) {
        fields.reset(bytes);
        int at = from;
        while (at + 1 < to && bytes[at] != '\r') {
            int nameEnd = FieldLexer.skipToken(bytes, at, to);
            if (nameEnd == at || nameEnd == to || bytes[nameEnd] != ':' || fields.size() == LINES_MAX) {
                return false;
            }
            int valueStart = FieldLexer.skipSpace(bytes, nameEnd + 1, to);
            int lineEnd = FieldLexer.skipText(bytes, valueStart, to);
            if (lineEnd + 1 >= to || bytes[lineEnd] != '\r' || bytes[lineEnd + 1] != '\n') {
                return false;
            }
            fields.addLine(at, nameEnd, valueStart, FieldLexer.trimEnd(bytes, valueStart, lineEnd));
            at = lineEnd + 2;
        }
        position = at + 2;
        return at + 1 < to && bytes[at + 1] == '\n';
    }

    /**
     * Returns true if the fields are those of a plain request. Also determines persistence, like
     * {@link ParsedRequest#isPersistent}.
     */
    private boolean isPlain(int minorVersion) {
        if (fields.mayContainAny(NOT_IN_PLAIN_SET)) {
            for (FieldName name : NOT_IN_PLAIN) {
                if (fields.contains(name)) {
                    return false;
                }
            }
        }
        int connection = fields.find(FieldName.CONNECTION);
        if (connection < 0) {
            persistent = minorVersion > 0;
            return true;
        }
        persistent = fields.valueEqualsIgnoreCase(connection, "keep-alive");
        return fields.next(FieldName.CONNECTION, connection) < 0
                && (persistent || fields.valueEqualsIgnoreCase(connection, "close"));
    }
}
