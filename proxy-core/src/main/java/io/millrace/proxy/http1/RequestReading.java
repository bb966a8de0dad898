package io.millrace.proxy.http1;

import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetProblem;
import io.millrace.proxy.http.TargetResult;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.net.BadRequest;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.RequestReceiver;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import java.util.Iterator;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a decoded request is to the proxy: a head over bytes with its framing, or the reason why it is refused. Guards stand here
 * that the decoder does not have: the transfer codings, the version, the target and its Host (RFC 9112 s3.2, s6.1, s6.3).
 *
 * <p>Immutable.
 *
 * @param head null when refused
 * @param problem null when accepted
 * @param contentLength bytes of content, 0 for none, {@link RequestReceiver#CHUNKED}
 * @param minorVersion of HTTP/1
 * @param isPersistent whether the client lets the connection live on (RFC 9112 s9.3)
 */
record RequestReading(
        @Nullable RequestHead head,
        @Nullable BadRequest problem,
        long contentLength,
        int minorVersion,
        boolean isPersistent) {
    private static final RequestReading NONE = new RequestReading(null, BadRequest.HEADER_TIMEOUT, 0, 1, false);

    /** The reading of a request whose head never became complete. */
    static RequestReading none() {
        return NONE;
    }

    static RequestReading of(HttpRequest request, ClientConnection connection) {
        if (request.decoderResult().isFailure()) {
            return refused(problemOf(request.decoderResult().cause()));
        }
        HttpVersion version = request.protocolVersion();
        if (version.majorVersion() != 1 || !version.protocolName().equals("HTTP")) {
            return refused(BadRequest.VERSION);
        }
        int minorVersion = Math.min(1, version.minorVersion());
        FieldSection fields;
        try {
            fields = fields(request);
        } catch (IllegalArgumentException e) {
            return refused(BadRequest.SYNTAX);
        }
        Method method = Method.of(request.method().name());
        TargetResult target = TargetUri.parse(method, request.uri(), fields, minorVersion, connection.secure());
        if (!(target instanceof TargetUri uri)) {
            return refused(hostProblem((TargetProblem) target) ? BadRequest.HOST : BadRequest.TARGET);
        }
        long contentLength = contentLength(fields, minorVersion);
        if (contentLength <= REFUSED) {
            return refused(contentLength == REFUSED ? BadRequest.FRAMING : BadRequest.TRANSFER_CODING);
        }
        RequestHead head = RequestHead.of(request.method().name(), uri, minorVersion, fields);
        return new RequestReading(head, null, contentLength, minorVersion, isPersistent(fields, minorVersion));
    }

    private static final long REFUSED = -2;
    private static final long UNKNOWN_CODING = -3;

    private static long contentLength(FieldSection fields, int minorVersion) {
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

    private static boolean isPersistent(FieldSection fields, int minorVersion) {
        if (fields.hasToken(FieldName.CONNECTION, "close")) {
            return false;
        }
        return minorVersion > 0 || fields.hasToken(FieldName.CONNECTION, "keep-alive");
    }

    private static FieldSection fields(HttpRequest request) {
        FieldSection.Builder builder = FieldSection.builder();
        Iterator<Map.Entry<CharSequence, CharSequence>> lines =
                request.headers().iteratorCharSequence();
        while (lines.hasNext()) {
            Map.Entry<CharSequence, CharSequence> line = lines.next();
            builder.add(line.getKey(), line.getValue());
        }
        return builder.build();
    }

    private static boolean hostProblem(TargetProblem problem) {
        return switch (problem) {
            case HOST_MISSING, HOST_REPEATED, HOST, PORT -> true;
            case FORM, SCHEME, BYTE, USERINFO -> false;
        };
    }

    private static BadRequest problemOf(Throwable cause) {
        if (cause instanceof TooLongHttpLineException) {
            return BadRequest.LINE_TOO_LONG;
        }
        if (cause instanceof TooLongHttpHeaderException) {
            return BadRequest.HEADER_TOO_LARGE;
        }
        return cause instanceof Http1RequestDecoder.FramingException ? BadRequest.FRAMING : BadRequest.SYNTAX;
    }

    private static RequestReading refused(BadRequest problem) {
        return new RequestReading(null, problem, 0, 1, false);
    }
}
