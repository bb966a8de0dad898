package io.millrace.proxy;

import io.millrace.proxy.HistoryStep.OriginState;
import io.millrace.proxy.HistoryStep.Trouble;
import java.io.IOException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

/**
 * The origin of the random histories. It answers by the state of the step, with preconditions and ranges of RFC 9110.
 */
final class HistoryOrigin implements RawOrigin.Script {
    private static final DateTimeFormatter HTTP_DATE = DateTimeFormatter.ofPattern(
                    "EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US)
            .withZone(ZoneOffset.UTC);

    private final LongSupplier seconds;
    private final AtomicInteger asked = new AtomicInteger();
    private volatile OriginState state;

    HistoryOrigin(LongSupplier seconds) {
        this.seconds = seconds;
    }

    static String date(long seconds) {
        return HTTP_DATE.format(Instant.ofEpochSecond(seconds));
    }

    void stands(OriginState next) {
        state = next;
    }

    int asked() {
        return asked.get();
    }

    @Override
    public void answer(RawOrigin.Exchange request) throws IOException {
        asked.incrementAndGet();
        OriginState now = state;
        String fields = "Date: " + date(seconds.getAsLong()) + "\r\n";
        boolean head = request.head().startsWith("HEAD ");
        switch (now.trouble()) {
            case CLOSE -> request.socket().close();
            case ERROR -> request.send("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n" + fields + "\r\n");
            case NOT_FOUND ->
                request.send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nCache-Control: max-age=20\r\n"
                        + (now.varies() ? "Vary: X-V\r\n" : "") + fields + "\r\n");
            case NONE -> {
                if (request.head().startsWith("POST ")) {
                    request.send("HTTP/1.1 204 No Content\r\n" + fields + "\r\n");
                } else {
                    represent(request, now, fields + describe(now), head);
                }
            }
        }
    }

    private String describe(OriginState now) {
        StringBuilder fields = new StringBuilder();
        StringBuilder control = new StringBuilder();
        control.append(now.maxAge() >= 0 ? ", max-age=" + now.maxAge() : "");
        control.append(now.sharedMaxAge() >= 0 ? ", s-maxage=" + now.sharedMaxAge() : "");
        control.append(now.restriction() != null ? ", " + now.restriction() : "");
        fields.append(control.length() > 0 ? "Cache-Control: " + control.substring(2) + "\r\n" : "");
        fields.append(now.tag() != null ? "ETag: " + now.tag() + "\r\n" : "");
        fields.append(now.dated() ? "Last-Modified: " + date(now.lastModified()) + "\r\n" : "");
        fields.append(now.varies() ? "Vary: X-V\r\n" : "");
        fields.append(now.age() >= 0 ? "Age: " + now.age() + "\r\n" : "");
        long expires = seconds.getAsLong() + now.expiresIn();
        return fields + (now.expiresIn() >= 0 ? "Expires: " + date(expires) + "\r\n" : "");
    }

    private static void represent(RawOrigin.Exchange request, OriginState now, String fields, boolean head)
            throws IOException {
        String match = RawClient.field(request.head(), "if-match");
        if (match != null && (match.startsWith("W/") || !match.equals(now.tag()))) {
            request.send("HTTP/1.1 412 Precondition Failed\r\nContent-Length: 0\r\n" + fields + "\r\n");
            return;
        }
        String noneMatch = RawClient.field(request.head(), "if-none-match");
        String since = RawClient.field(request.head(), "if-modified-since");
        boolean same = noneMatch != null
                ? now.tag() != null && opaque(noneMatch).equals(opaque(now.tag()))
                : since != null
                        && now.dated()
                        && now.lastModified()
                                <= HTTP_DATE.parse(since, Instant::from).getEpochSecond();
        if (same) {
            request.send("HTTP/1.1 304 Not Modified\r\n" + fields + "\r\n");
            return;
        }
        byte[] content = now.content();
        String range = head ? null : RawClient.field(request.head(), "range");
        String ifRange = RawClient.field(request.head(), "if-range");
        boolean ranged = range != null && (ifRange == null || (ifRange.equals(now.tag()) && !ifRange.startsWith("W/")));
        int from = 0;
        int to = content.length;
        if (ranged) {
            String[] ends = range.substring("bytes=".length()).split("-", -1);
            from = ends[0].isEmpty() ? Math.max(0, to - Integer.parseInt(ends[1])) : Integer.parseInt(ends[0]);
            to = ends[0].isEmpty() || ends[1].isEmpty() ? to : Math.min(to, Integer.parseInt(ends[1]) + 1);
            if (from >= content.length) {
                request.send("HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 0\r\nContent-Range: bytes */"
                        + content.length + "\r\n\r\n");
                return;
            }
        }
        String status = ranged
                ? "206 Partial Content\r\nContent-Range: bytes " + from + "-" + (to - 1) + "/" + content.length
                : "200 OK";
        request.send("HTTP/1.1 " + status + "\r\nContent-Length: " + (to - from) + "\r\n" + fields + "\r\n");
        if (!head) {
            request.send(Arrays.copyOfRange(content, from, to));
        }
    }

    private static String opaque(String tag) {
        return tag.startsWith("W/") ? tag.substring(2) : tag;
    }

    /** Returns true if the origin fails in this state. */
    static boolean fails(OriginState state) {
        return state.trouble() == Trouble.ERROR || state.trouble() == Trouble.CLOSE;
    }
}
