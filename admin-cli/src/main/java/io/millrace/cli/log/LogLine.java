package io.millrace.cli.log;

import org.jspecify.annotations.Nullable;

/**
 * A request, parsed from a line of an access log. A value that the log format lacks is null or -1. Immutable.
 *
 * @param timeMillis arrival of the request, in epoch milliseconds
 * @param durationMillis duration of the request in milliseconds
 * @param client address of the client
 * @param result result code, such as {@code TCP_MISS}
 * @param status status code sent to the client; 0 for none
 * @param bytes bytes sent to the client
 * @param method request method
 * @param url URL as requested by the client; in some formats only path and query
 * @param origin host of the origin
 * @param type media type of the response
 * @param sample number of requests that the line represents, since a sampled log contains only one of N requests; 1 if
 *     the log is not sampled or its format lacks N
 */
public record LogLine(
        long timeMillis,
        long durationMillis,
        @Nullable String client,
        @Nullable String result,
        int status,
        long bytes,
        @Nullable String method,
        @Nullable String url,
        @Nullable String origin,
        @Nullable String type,
        long sample) {
    /** Limit of {@link #sample}. The config key {@code log.access[].sample} has the same limit. */
    public static final long SAMPLE_MAX = 1_000_000;

    /** Returns the URL's host, with the port if the URL has one; null if the log format has no host. */
    public @Nullable String host() {
        String whole = url;
        int start = whole == null ? -1 : whole.indexOf("://");
        if (whole == null || start < 0) {
            return null;
        }
        int end = start + 3;
        while (end < whole.length() && "/?#".indexOf(whole.charAt(end)) < 0) {
            end++;
        }
        return end == start + 3 ? null : whole.substring(start + 3, end);
    }

    /** Returns a copy that represents {@code requests} requests, for logs whose lines do not contain this number. */
    public LogLine withSample(long requests) {
        return new LogLine(
                timeMillis, durationMillis, client, result, status, bytes, method, url, origin, type, requests);
    }

    /** Returns the group of the result code: hit, miss, error or other. */
    public CacheGroup group() {
        return CacheGroup.of(result, status);
    }
}
