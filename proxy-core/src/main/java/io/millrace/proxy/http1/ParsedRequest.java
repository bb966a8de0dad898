package io.millrace.proxy.http1;

import io.millrace.proxy.http.FieldLexer;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetProblem;
import io.millrace.proxy.http.TargetResult;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.http.forward.TrailerFields;
import io.millrace.proxy.http.forward.UpgradeFields;
import io.millrace.proxy.net.BadRequest;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.RequestReceiver;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A parsed request head: the head with its framing, or the reason for the refusal. The parser is strict where RFC 9112
 * permits leniency: single spaces, CRLF, no folded lines, one framing field (s2.2, s3, s5, s6.3).
 *
 * <p>Immutable.
 *
 * @param head null when refused
 * @param problem null when accepted
 * @param contentLength bytes of content; 0 for none; {@link RequestReceiver#CHUNKED} for chunked content
 * @param minorVersion minor version of HTTP/1
 * @param isPersistent whether the client permits a persistent connection (RFC 9112 s9.3)
 */
record ParsedRequest(
        @Nullable RequestHead head,
        @Nullable BadRequest problem,
        long contentLength,
        int minorVersion,
        boolean isPersistent) {
    private static final ParsedRequest NONE = new ParsedRequest(null, BadRequest.HEADER_TIMEOUT, 0, 1, false);

    /**
     * Returns true if another protocol may follow the request. The request is CONNECT or asks for an upgrade (RFC 9110
     * s7.8, s9.3.6). Later bytes are not parsed before the response is known.
     */
    boolean mayLeaveHttp() {
        return head != null
                && (head.method() == Method.CONNECT
                        || (contentLength == 0 && UpgradeFields.isIn(head.fields(), minorVersion)));
    }

    /** Returns true if the client waits for 100 (Continue) before it sends the content (RFC 9110 s10.1.1). */
    boolean awaitsContinue() {
        return head != null && head.fields().hasToken(FieldName.EXPECT, "100-continue");
    }

    /** Returns true if the client accepts trailers after a chunked response (RFC 9110 s10.1.4). */
    boolean wantsTrailers() {
        return head != null && TrailerFields.areWanted(head.fields());
    }

    /** Returns the result for a request whose head never became complete. */
    static ParsedRequest none() {
        return NONE;
    }

    /** Returns the result for bytes that are refused without parsing. */
    static ParsedRequest refused(BadRequest problem) {
        return new ParsedRequest(null, problem, 0, 1, false);
    }

    /**
     * Parses a complete head.
     *
     * @param bytes request line, field lines and the empty line; kept
     * @param lineLength length of the request line with its end
     */
    static ParsedRequest of(byte[] bytes, int lineLength, ClientConnection connection) {
        int end = lineLength - 2;
        int methodEnd = indexOf(bytes, ' ', 0, end);
        int targetEnd = methodEnd < 0 ? -1 : indexOf(bytes, ' ', methodEnd + 1, end);
        boolean endsRight = end > 0 && bytes[end] == '\r' && bytes[bytes.length - 2] == '\r';
        if (!endsRight || targetEnd <= methodEnd + 1 || !FieldLexer.isToken(bytes, 0, methodEnd)) {
            return refused(BadRequest.SYNTAX);
        }
        int minorVersion = minorVersion(bytes, targetEnd + 1, end);
        if (minorVersion < 0) {
            return refused(minorVersion == OTHER_MAJOR ? BadRequest.VERSION : BadRequest.SYNTAX);
        }
        FieldSection fields = FieldSection.parse(bytes, lineLength, bytes.length - 2);
        if (fields == null) {
            return refused(BadRequest.SYNTAX);
        }
        String methodName = new String(bytes, 0, methodEnd, StandardCharsets.US_ASCII);
        Method method = Method.of(methodName);
        TargetResult target =
                TargetUri.parse(method, bytes, methodEnd + 1, targetEnd, fields, minorVersion, connection.secure());
        if (!(target instanceof TargetUri uri)) {
            return refused(isHostProblem((TargetProblem) target) ? BadRequest.HOST : BadRequest.TARGET);
        }
        long contentLength = contentLength(fields, minorVersion);
        if (contentLength <= REFUSED) {
            return refused(contentLength == REFUSED ? BadRequest.FRAMING : BadRequest.TRANSFER_CODING);
        }
        RequestHead head = RequestHead.of(methodName, uri, minorVersion, fields);
        return new ParsedRequest(head, null, contentLength, minorVersion, isPersistent(fields, minorVersion));
    }

    /**
     * Returns the result for a request that {@link PlainRequestScanner} accepted. The given head is a view of temporary
     * bytes.
     *
     * @param head the view; its target stays valid and is shared with the result
     * @param start start of the request in the bytes of the view
     * @param bytes a copy of the request; kept
     * @param lineLength length of the request line with its end
     */
    static ParsedRequest ofPlain(RequestHead head, int start, boolean persistent, byte[] bytes, int lineLength) {
        FieldSection fields = head.fields().over(bytes, -start, lineLength, bytes.length - 2);
        RequestHead owned = RequestHead.of(head.method(), head.target(), head.minorVersion(), fields);
        return new ParsedRequest(owned, null, 0, head.minorVersion(), persistent);
    }

    private static final int OTHER_MAJOR = -2;
    private static final byte[] HTTP = {'H', 'T', 'T', 'P', '/'};

    /** Returns 0 or 1; -1 for invalid syntax, {@link #OTHER_MAJOR} for a version that is not 1.x (RFC 9112 s2.3). */
    private static int minorVersion(byte[] bytes, int from, int to) {
        if (to - from != HTTP.length + 3
                || !Arrays.equals(bytes, from, from + HTTP.length, HTTP, 0, HTTP.length)
                || bytes[from + 6] != '.') {
            return -1;
        }
        int major = bytes[from + 5] - '0';
        int minor = bytes[from + 7] - '0';
        if (major < 0 || major > 9 || minor < 0 || minor > 9) {
            return -1;
        }
        return major == 1 ? Math.min(1, minor) : OTHER_MAJOR;
    }

    private static int indexOf(byte[] bytes, char wanted, int from, int to) {
        for (int i = from; i < to; i++) {
            if (bytes[i] == wanted) {
                return i;
            }
        }
        return -1;
    }

    /** Result of {@link #contentLength(FieldSection, int)} for framing fields that are invalid or contradictory. */
    private static final long REFUSED = -2;
    /** Result of {@link #contentLength(FieldSection, int)} for a transfer coding other than chunked. */
    private static final long UNKNOWN_CODING = -3;

    private static long contentLength(FieldSection fields, int minorVersion) {
        // The first draft of WebSocket sent 8 bytes after a head with these fields. Netty's decoder still treats these
        // bytes as content.
        if (fields.contains(FieldName.SEC_WEBSOCKET_KEY1) && fields.contains(FieldName.SEC_WEBSOCKET_KEY2)) {
            return REFUSED;
        }
        int length = fields.find(FieldName.CONTENT_LENGTH);
        int coding = fields.find(FieldName.TRANSFER_ENCODING);
        if (coding >= 0) {
            if (minorVersion == 0 || length >= 0 || fields.next(FieldName.TRANSFER_ENCODING, coding) >= 0) {
                return REFUSED;
            }
            return fields.valueEqualsIgnoreCase(coding, "chunked") ? RequestReceiver.CHUNKED : UNKNOWN_CODING;
        }
        if (length < 0) {
            return 0;
        }
        if (fields.next(FieldName.CONTENT_LENGTH, length) >= 0) {
            return REFUSED;
        }
        return decimal(fields.bytes(), fields.valueStart(length), fields.valueEnd(length));
    }

    private static long decimal(byte[] bytes, int from, int to) {
        if (from == to || to - from > 18) {
            return REFUSED;
        }
        long value = 0;
        for (int i = from; i < to; i++) {
            int digit = bytes[i] - '0';
            if (digit < 0 || digit > 9) {
                return REFUSED;
            }
            value = value * 10 + digit;
        }
        return value;
    }

    static boolean isPersistent(FieldSection fields, int minorVersion) {
        if (fields.hasToken(FieldName.CONNECTION, "close")) {
            return false;
        }
        return minorVersion > 0 || fields.hasToken(FieldName.CONNECTION, "keep-alive");
    }

    private static boolean isHostProblem(TargetProblem problem) {
        return switch (problem) {
            case HOST_MISSING, HOST_REPEATED, HOST, PORT -> true;
            case FORM, SCHEME, BYTE, USERINFO -> false;
        };
    }
}
