package io.millrace.cli.log;

import org.jspecify.annotations.Nullable;

/**
 * One request of an access log; what a format does not have is null, or -1. Immutable.
 *
 * @param timeMillis when it arrived, in epoch milliseconds
 * @param durationMillis how long it took
 * @param client the client's address
 * @param result its result code, such as {@code TCP_MISS}
 * @param status sent to the client; 0 when none was
 * @param bytes sent to the client
 * @param method its method
 * @param url as the client asked for it, in some formats path and query alone
 * @param origin the origin's host
 * @param type the media type
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
        @Nullable String type) {
    /** The URL's host with its port where it has one; null where the format has no host. */
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

    /** What the cache made of it. */
    public CacheGroup group() {
        return CacheGroup.of(result, status);
    }
}
