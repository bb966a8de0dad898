package io.millrace.proxy.observe.log;

import java.util.concurrent.TimeUnit;

/**
 * The {@code json} format: one JSON object per line (RFC 8259). Absent values have no member. Non-ASCII bytes are
 * written as the characters U+0080 to U+00FF.
 *
 * <pre>
 *   {"time":"2023-11-14T22:13:20.123Z","duration_ms":4,"client":"192.0.2.7","result":"TCP_MEM_HIT",...}
 * </pre>
 */
final class JsonLines implements LineFormat {
    private final LogTimes seconds = new LogTimes("yyyy-MM-dd'T'HH:mm:ss");

    @Override
    public void append(LoggedRecord logged, LineBuffer out) {
        out.putAscii("{\"time\":\"");
        seconds.append(logged, out);
        out.put('.');
        out.putDecimal(logged.receivedAtMillis() % 1000, 3);
        out.putAscii("Z\",\"duration_ms\":");
        out.putDecimal(TimeUnit.NANOSECONDS.toMillis(logged.durationNanos()));
        if (logged.clientLength() > 0) {
            out.putAscii(",\"client\":\"");
            out.putClient(logged);
            out.put('"');
        }
        out.putAscii(",\"result\":\"");
        out.putAscii(SquidLines.code(logged));
        out.putAscii("\",\"cache\":\"");
        out.putAscii(logged.cacheResult().word());
        out.putAscii("\",\"status\":");
        out.putDecimal(logged.status());
        if (logged.originStatus() > 0) {
            out.putAscii(",\"origin_status\":");
            out.putDecimal(logged.originStatus());
        }
        version(out, ",\"origin_protocol\":\"HTTP/", logged.originMajorVersion(), logged.originMinorVersion());
        out.putAscii(",\"bytes\":");
        out.putDecimal(logged.headBytes() + logged.bodyBytes());
        out.putAscii(",\"body_bytes\":");
        out.putDecimal(logged.bodyBytes());
        if (logged.receivedBytes() > 0) {
            out.putAscii(",\"received_bytes\":");
            out.putDecimal(logged.receivedBytes());
        }
        version(out, ",\"protocol\":\"HTTP/", logged.majorVersion(), logged.minorVersion());
        text(logged, out, ",\"tls\":\"", LogField.TLS_VERSION);
        text(logged, out, ",\"cipher\":\"", LogField.TLS_CIPHER);
        text(logged, out, ",\"sni\":\"", LogField.TLS_SERVER_NAME);
        text(logged, out, ",\"client_subject\":\"", LogField.TLS_CLIENT_SUBJECT);
        text(logged, out, ",\"method\":\"", LogField.METHOD);
        text(logged, out, ",\"url\":\"", LogField.URL);
        text(logged, out, ",\"user\":\"", LogField.USER);
        text(logged, out, ",\"origin\":\"", LogField.ORIGIN_HOST);
        text(logged, out, ",\"type\":\"", LogField.CONTENT_TYPE);
        text(logged, out, ",\"referer\":\"", LogField.REFERER);
        text(logged, out, ",\"user_agent\":\"", LogField.USER_AGENT);
        text(logged, out, ",\"detail\":\"", LogField.DETAIL);
        text(logged, out, ",\"trace_id\":\"", LogField.TRACE_ID);
        text(logged, out, ",\"country\":\"", LogField.COUNTRY);
        if (logged.sampleRate() > 1) {
            out.putAscii(",\"sample\":");
            out.putDecimal(logged.sampleRate());
        }
        out.put('}');
        out.endLine();
    }

    private static void version(LineBuffer out, String member, int major, int minor) {
        if (major > 0) {
            out.putAscii(member);
            out.putDecimal(major);
            out.put('.');
            out.putDecimal(minor);
            out.put('"');
        }
    }

    private static void text(LoggedRecord logged, LineBuffer out, String member, LogField field) {
        int length = logged.textLength(field);
        if (length > 0) {
            out.putAscii(member);
            out.putJson(logged.bytes(), logged.textStart(field), length);
            out.putTruncation(logged, field);
            out.put('"');
        }
    }
}
