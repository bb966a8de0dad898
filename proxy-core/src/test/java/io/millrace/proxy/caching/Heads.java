package io.millrace.proxy.caching;

import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.HttpDates;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.http.TargetUri;
import java.time.Instant;

/** Heads for tests, in the form of HTTP text. */
public final class Heads {

    /** Noon of 20 November 2026, when every response of these tests arrives. */
    public static final long NOW_SECONDS = Instant.parse("2026-11-20T12:00:00Z").getEpochSecond();

    public static final long NOW = NOW_SECONDS * 1000;

    private Heads() {}

    /** Returns a GET for http://a.example/x with field lines {@code Name: value}. */
    public static RequestHead get(String... lines) {
        return request("GET", "http://a.example/x", lines);
    }

    public static RequestHead request(String method, String uri, String... lines) {
        return RequestHead.of(method, target(uri), fields(lines));
    }

    public static TargetUri target(String uri) {
        return (TargetUri) TargetUri.parseAbsolute(uri);
    }

    /** Returns a response with the present Date and further field lines. */
    public static ResponseHead response(int status, String... lines) {
        FieldSection.Builder fields = FieldSection.builder().add("Date", HttpDates.format(NOW_SECONDS));
        fields.addAll(fields(lines));
        return ResponseHead.of(status, "", fields.build());
    }

    /** Returns a response with only those field lines. */
    public static ResponseHead bare(int status, String... lines) {
        return ResponseHead.of(status, "Some Reason", fields(lines));
    }

    /** Returns a 200 stored now, with the present Date and further field lines. */
    public static StoredHead stored(String... lines) {
        return stored(response(200, lines));
    }

    public static StoredHead stored(ResponseHead response) {
        return StoredHead.of(get(), response, NOW, NOW, CacheSettings.DEFAULTS);
    }

    /** Returns the HTTP date this many seconds from now. */
    public static String date(long secondsFromNow) {
        return HttpDates.format(NOW_SECONDS + secondsFromNow);
    }

    /** Returns field lines; {@code {n}} in a value stands for the HTTP date n seconds from now. */
    public static FieldSection fields(String... lines) {
        FieldSection.Builder fields = FieldSection.builder();
        for (String line : lines) {
            for (String one : line.split("\\^", -1)) {
                int colon = one.indexOf(':');
                if (colon > 0) {
                    fields.add(one.substring(0, colon).strip(), withDates(one.substring(colon + 1)));
                }
            }
        }
        return fields.build();
    }

    private static String withDates(String value) {
        int open = value.indexOf('{');
        int close = value.indexOf('}');
        return open < 0
                ? value
                : withDates(value.substring(0, open)
                        + date(Long.parseLong(value.substring(open + 1, close)))
                        + value.substring(close + 1));
    }
}
