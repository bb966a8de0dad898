package io.millrace.proxy.observe.log;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/**
 * Apache's {@code combined} format with times in UTC.
 *
 * <pre>
 *   client - user [time] "method target HTTP/x.y" status body-bytes "referer" "user-agent"
 *   192.0.2.7 - - [14/Nov/2023:22:13:20 +0000] "GET /p HTTP/1.1" 200 1256 "-" "curl/8.0"
 * </pre>
 */
final class CombinedLines implements LineFormat {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("'['dd/MMM/yyyy:HH:mm:ss '+0000]'", Locale.ROOT);

    private long formattedSecond = Long.MIN_VALUE;
    private byte[] formattedTime = {};

    @Override
    public void append(LoggedRecord logged, LineBuffer out) {
        out.putClient(logged);
        out.putAscii(" - ");
        out.putWord(logged, LogField.USER);
        out.put(' ');
        out.put(time(logged.receivedAtMillis()));
        out.putAscii(" \"");
        out.putQuoted(logged, LogField.METHOD);
        out.put(' ');
        appendTarget(logged, out);
        appendVersion(logged, out);
        out.putAscii("\" ");
        out.putDecimal(logged.status(), 3);
        out.put(' ');
        out.putDecimal(logged.bodyBytes());
        out.putAscii(" \"");
        out.putQuoted(logged, LogField.REFERER);
        out.putAscii("\" \"");
        out.putQuoted(logged, LogField.USER_AGENT);
        out.put('"');
        out.endLine();
    }

    private byte[] time(long epochMillis) {
        long second = Math.floorDiv(epochMillis, 1000L);
        if (second != formattedSecond) {
            formattedSecond = second;
            formattedTime = TIME.format(Instant.ofEpochSecond(second).atOffset(ZoneOffset.UTC))
                    .getBytes(StandardCharsets.US_ASCII);
        }
        return formattedTime;
    }

    /** Appends the URL without scheme and authority, as in the request line of an ordinary client. */
    private static void appendTarget(LoggedRecord logged, LineBuffer out) {
        int length = logged.textLength(LogField.URL);
        if (length <= 0) {
            out.put('-');
            return;
        }
        int start = logged.textStart(LogField.URL);
        int path = start + pathOffset(logged.bytes(), start, length);
        out.putQuoted(logged.bytes(), path, start + length - path);
        out.putTruncation(logged, LogField.URL);
    }

    /** Returns the offset of path and query in an absolute URL; 0 if the URL has none. */
    static int pathOffset(byte[] bytes, int start, int length) {
        int slashes = 0;
        for (int i = 0; i < length; i++) {
            byte c = bytes[start + i];
            if (c == '/') {
                if (i == 0 || slashes == 2) {
                    return i;
                }
                slashes++;
            } else if (c == '?') {
                return slashes == 2 ? i : 0;
            }
        }
        return 0;
    }

    private static void appendVersion(LoggedRecord logged, LineBuffer out) {
        if (logged.majorVersion() == 0) {
            return;
        }
        out.putAscii(" HTTP/");
        out.putDecimal(logged.majorVersion());
        out.put('.');
        out.putDecimal(logged.minorVersion());
    }
}
