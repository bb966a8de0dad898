package io.millrace.proxy.exchange.report;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.observe.log.AccessLogRecord;
import io.millrace.proxy.observe.log.AccessLogRing;
import io.millrace.proxy.observe.log.LogCapture;
import io.millrace.proxy.observe.log.LogField;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Writes the fields of messages and of connections to access log records, without allocation.
 *
 * <p>Thread-safe: no state.
 */
public final class RecordFields {
    private static final byte[] HTTP = "http://".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] HTTPS = "https://".getBytes(StandardCharsets.US_ASCII);

    private RecordFields() {}

    /** Writes version, method, URL and User-Agent of a request. */
    public static void request(AccessLogRecord record, RequestHead head) {
        record.version(head.isHttp2() ? 2 : 1, head.isHttp2() ? 0 : head.minorVersion())
                .text(LogField.METHOD, head.methodName());
        url(record, head.target());
        field(record, LogField.USER_AGENT, head.fields(), FieldName.USER_AGENT);
    }

    /** Writes Referer of a request. */
    public static void referer(AccessLogRecord record, RequestHead head) {
        field(record, LogField.REFERER, head.fields(), FieldName.REFERER);
    }

    /** Writes the TLS values that the ring's logs contain. */
    public static void tls(AccessLogRing ring, AccessLogRecord record, ClientConnection client) {
        if (!client.secure()) {
            return;
        }
        record.secure();
        ClientConnection.Tls agreed = ring.showsTls() ? client.tls() : null;
        if (agreed != null) {
            record.text(LogField.TLS_VERSION, agreed.version())
                    .text(LogField.TLS_CIPHER, agreed.cipher())
                    .text(LogField.TLS_SERVER_NAME, agreed.serverName())
                    .text(LogField.TLS_CLIENT_SUBJECT, agreed.clientSubject());
        }
    }

    /** Writes the Content-Type of a stored response, without parsing the response's fields. */
    public static void contentType(AccessLogRecord record, StoredHead from) {
        int start = from.contentTypeStart();
        if (start >= 0) {
            record.text(LogField.CONTENT_TYPE, from.wireBytes(), start, from.contentTypeEnd(start) - start);
        }
    }

    /** Writes the content type of an origin's response. */
    public static void contentType(AccessLogRecord record, FieldSection from) {
        int line = from.find(FieldName.CONTENT_TYPE);
        if (line >= 0) {
            int start = from.valueStart(line);
            record.text(LogField.CONTENT_TYPE, from.bytes(), start, from.valueEnd(line) - start);
        }
    }

    /**
     * Writes the header fields that the ring's templates contain.
     *
     * @param request the client's request; null if its bytes were not a valid request
     * @param originFields fields of the origin's response; null for none
     * @param stored the stored response, whose fields are parsed only if the templates contain any; null for none
     */
    public static void captures(
            AccessLogRing ring,
            AccessLogRecord record,
            @Nullable RequestHead request,
            @Nullable FieldSection originFields,
            @Nullable StoredHead stored) {
        LogCapture[] captures = ring.captures();
        if (captures.length == 0) {
            return;
        }
        FieldSection storedFields = stored == null ? null : stored.fields();
        for (LogCapture capture : captures) {
            FieldSection from =
                    switch (capture.source()) {
                        case CLIENT_REQUEST -> request == null ? null : request.fields();
                        case ORIGIN_RESPONSE -> originFields;
                        case CACHED_RESPONSE -> storedFields;
                        case PROXY_RESPONSE -> storedFields == null ? originFields : storedFields;
                    };
            if (from != null) {
                field(record, capture.slot(), from, capture.name());
            }
        }
    }

    private static void url(AccessLogRecord record, TargetUri target) {
        byte[] scheme = target.isSecure() ? HTTPS : HTTP;
        record.open(LogField.URL).append(scheme, 0, scheme.length);
        record.append(target.hostBytes(), 0, target.hostBytes().length);
        if (!target.isDefaultPort()) {
            record.append(":").append(target.port());
        }
        record.append(target.targetBytes(), target.pathStart(), target.queryEnd() - target.pathStart());
    }

    private static void field(AccessLogRecord record, LogField to, FieldSection fields, FieldName name) {
        int line = fields.find(name);
        if (line >= 0) {
            record.text(to, fields.bytes(), fields.valueStart(line), fields.valueEnd(line) - fields.valueStart(line));
        }
    }
}
