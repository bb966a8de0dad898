package io.millrace.bench;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.http.TargetResult;
import io.millrace.proxy.http.TargetUri;

/**
 * The test data of benchmarks: a browser's request and a typical stored response, with nine header fields each.
 * Stateless.
 */
public final class StoredResponses {
    /** Time at which the response was stored, in epoch milliseconds. */
    public static final long STORED_MILLIS = 1_790_000_000_000L;

    private static final String[] BROWSER_FIELDS = {
        "Host", "www.example.com",
        "User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",
        "Accept", "text/css,*/*;q=0.1",
        "Accept-Language", "en-US,en;q=0.5",
        "Accept-Encoding", "gzip, deflate, br, zstd",
        "Referer", "http://www.example.com/",
        "Sec-Fetch-Dest", "style",
        "Cookie", "session=0123456789abcdef; theme=dark",
        "Priority", "u=2",
    };

    private StoredResponses() {}

    /** Returns a browser's GET request in wire format. */
    public static String browserRequestText() {
        StringBuilder text = new StringBuilder("GET /assets/site.css?v=12 HTTP/1.1\r\n");
        for (int i = 0; i < BROWSER_FIELDS.length; i += 2) {
            text.append(BROWSER_FIELDS[i])
                    .append(": ")
                    .append(BROWSER_FIELDS[i + 1])
                    .append("\r\n");
        }
        return text.append("\r\n").toString();
    }

    /** Returns a browser's GET request. */
    public static RequestHead browserRequest() {
        FieldSection.Builder fields = FieldSection.builder();
        for (int i = 0; i < BROWSER_FIELDS.length; i += 2) {
            fields.add(BROWSER_FIELDS[i], BROWSER_FIELDS[i + 1]);
        }
        TargetResult target = TargetUri.parseAbsolute("http://www.example.com/assets/site.css?v=12");
        return RequestHead.of(Method.GET, (TargetUri) target, 1, fields.build());
    }

    /** Returns the head of an origin's response of 500 bytes, fresh for an hour. */
    public static ResponseHead responseHead() {
        FieldSection fields = FieldSection.builder()
                .add("Date", "Mon, 21 Sep 2026 14:13:20 GMT")
                .add("Server", "origin")
                .add("Content-Type", "text/css")
                .add("Content-Length", "500")
                .add("Last-Modified", "Mon, 21 Sep 2026 10:00:00 GMT")
                .add("ETag", "\"5f2c-1f4\"")
                .add("Cache-Control", "public, max-age=3600")
                .add("Accept-Ranges", "bytes")
                .add("X-Content-Type-Options", "nosniff")
                .build();
        return ResponseHead.of(200, "OK", fields);
    }

    /** Returns a stored response of 500 bytes, fresh for an hour. */
    public static StoredHead storedHead() {
        return StoredHead.of(browserRequest(), responseHead(), STORED_MILLIS, STORED_MILLIS, CacheSettings.DEFAULTS);
    }
}
