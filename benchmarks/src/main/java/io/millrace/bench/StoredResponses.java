package io.millrace.bench;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.http.TargetResult;
import io.millrace.proxy.http.TargetUri;

/** The request of a browser and the stored response of an ordinary origin, nine fields each. Immutable: no state. */
public final class StoredResponses {
    /** When the response was stored, epoch milliseconds. */
    public static final long STORED_MILLIS = 1_790_000_000_000L;

    private StoredResponses() {}

    /** A browser's GET. */
    public static RequestHead browserRequest() {
        FieldSection fields = FieldSection.builder()
                .add("Host", "www.example.com")
                .add("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0")
                .add("Accept", "text/css,*/*;q=0.1")
                .add("Accept-Language", "en-US,en;q=0.5")
                .add("Accept-Encoding", "gzip, deflate, br, zstd")
                .add("Referer", "http://www.example.com/")
                .add("Sec-Fetch-Dest", "style")
                .add("Cookie", "session=0123456789abcdef; theme=dark")
                .add("Priority", "u=2")
                .build();
        TargetResult target = TargetUri.parseAbsolute("http://www.example.com/assets/site.css?v=12");
        return RequestHead.of(Method.GET, (TargetUri) target, 1, fields);
    }

    /** A response of 500 bytes, fresh for an hour. */
    public static StoredHead storedHead() {
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
        return StoredHead.of(
                browserRequest(),
                ResponseHead.of(200, "OK", fields),
                STORED_MILLIS,
                STORED_MILLIS,
                CacheSettings.DEFAULTS);
    }
}
