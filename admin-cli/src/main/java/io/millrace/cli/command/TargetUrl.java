package io.millrace.cli.command;

import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** Checks a URL that the user typed, and encodes it for a query. The proxy does the complete check. Stateless. */
public final class TargetUrl {
    private static final String HEX = "0123456789ABCDEF";

    /**
     * Characters that are not encoded: the unreserved characters of RFC 3986 section 2.3, and slash and colon. A query
     * may contain slash and colon, so URLs in a query stay readable.
     */
    private static final String UNRESERVED =
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~" + "/:";

    private TargetUrl() {}

    /** Throws an exception unless a URL has the scheme http or https, a host, and no spaces. */
    public static void check(String url) throws CommandFailure {
        String lower = url.toLowerCase(Locale.ROOT);
        int start = lower.startsWith("http://") ? 7 : lower.startsWith("https://") ? 8 : 0;
        if (start == 0) {
            String host = url.startsWith("/") ? "http://HOST" : url.contains("://") ? "" : "http://";
            throw new CommandFailure(
                    ExitCode.USAGE,
                    "not an absolute http or https URL: " + url
                            + (host.isEmpty() ? "" : " (did you mean " + host + url + "?)"));
        }
        if (url.length() == start || "/?#:".indexOf(url.charAt(start)) >= 0) {
            throw new CommandFailure(ExitCode.USAGE, "the URL names no host: " + url);
        }
        for (int i = 0; i < url.length(); i++) {
            if (url.charAt(i) <= ' ' || url.charAt(i) == 0x7f) {
                throw new CommandFailure(
                        ExitCode.USAGE, "the URL has a space or a control character; write %20 for a space: " + url);
            }
        }
    }

    /** Encodes {@code text} as the value of a query parameter. */
    public static String encoded(String text) {
        StringBuilder encoded = new StringBuilder(text.length() + 16);
        for (byte octet : text.getBytes(StandardCharsets.UTF_8)) {
            char character = (char) (octet & 0xff);
            if (UNRESERVED.indexOf(character) >= 0) {
                encoded.append(character);
            } else {
                encoded.append('%').append(HEX.charAt(character >> 4)).append(HEX.charAt(character & 15));
            }
        }
        return encoded.toString();
    }
}
