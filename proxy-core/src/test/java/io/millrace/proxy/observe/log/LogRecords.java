package io.millrace.proxy.observe.log;

import io.millrace.proxy.observe.CacheResult;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/** Records for tests, and their lines. */
final class LogRecords {
    /** 14 November 2023, 22:13:20.123 UTC. */
    static final long RECEIVED_AT_MILLIS = 1_700_000_000_123L;

    private LogRecords() {}

    /** Fills a record with an ordinary hit. */
    static void fillHit(AccessLogRecord entry) {
        entry.receivedAtMillis(RECEIVED_AT_MILLIS)
                .durationNanos(4_900_000)
                .client(new byte[] {(byte) 192, 0, 2, 7}, 0, 4)
                .status(200)
                .sentBytes(464, 1256)
                .version(1, 1)
                .cache(CacheResult.HIT)
                .fromRam()
                .text(LogField.METHOD, "GET")
                .text(LogField.URL, "http://www.example.com/a/b?c=d")
                .text(LogField.CONTENT_TYPE, "text/html; charset=utf-8")
                .text(LogField.REFERER, "http://r.example/")
                .text(LogField.USER_AGENT, "curl/8.0");
    }

    /** Returns the line of one record in one format, without its line feed. */
    static String line(AccessLogFormat format, Consumer<AccessLogRecord> filler) {
        AccessLogRing ring = new AccessLogRing(AccessLogRing.MIN_BYTES);
        AccessLogRecord entry = ring.claim();
        filler.accept(entry);
        ring.publish();
        LineFormat lines = format.lines();
        LineBuffer out = new LineBuffer(1, lines.maxLineBytes());
        ring.drain(logged -> {
            lines.append(logged, out);
            return true;
        });
        String line =
                StandardCharsets.ISO_8859_1.decode(out.unwritten().duplicate()).toString();
        if (line.indexOf('\n') != line.length() - 1) {
            throw new AssertionError("not one line: " + line);
        }
        return line.substring(0, line.length() - 1);
    }
}
