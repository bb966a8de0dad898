package io.millrace.cli.warm;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * An absolute http or https URL in the parts that a request needs. Immutable.
 *
 * @param secure whether the scheme is https
 * @param authority host and port of the URL in lower case, the value of Host
 * @param host host without port and brackets, in lower case
 * @param port port in the URL; -1 for none
 * @param target path and query, in visible ASCII
 */
public record WarmUrl(boolean secure, String authority, String host, int port, String target) {
    /** Limit of a URL in characters; the limit of sitemaps is 2,048. */
    static final int LENGTH_MAX = 8192;

    private static final String HEX = "0123456789ABCDEF";

    /** Returns the parts of a URL; null if the text is not an absolute http or https URL. */
    public static @Nullable WarmUrl parse(String text) {
        String url = text.strip();
        String lower = url.substring(0, Math.min(8, url.length())).toLowerCase(Locale.ROOT);
        boolean secure = lower.startsWith("https://");
        int start = secure ? 8 : lower.startsWith("http://") ? 7 : 0;
        if (start == 0 || url.length() > LENGTH_MAX) {
            return null;
        }
        int end = start;
        while (end < url.length() && "/?#".indexOf(url.charAt(end)) < 0) {
            end++;
        }
        String authority = url.substring(start, end);
        int colon = authority.startsWith("[") ? authority.indexOf("]:") + 1 : authority.lastIndexOf(':');
        int port = colon <= 0 ? -1 : port(authority.substring(colon + 1));
        String host = (colon <= 0 ? authority : authority.substring(0, colon)).toLowerCase(Locale.ROOT);
        if (!isHost(host) || port == 0) {
            return null;
        }
        int fragment = url.indexOf('#', end);
        String target = target(url.substring(end, fragment < 0 ? url.length() : fragment));
        if (target == null) {
            return null;
        }
        String bare = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
        return new WarmUrl(secure, authority.toLowerCase(Locale.ROOT), bare, port, target);
    }

    /** Returns 0 for text that is not a port. */
    private static int port(String digits) {
        int port = 0;
        for (int i = 0; i < digits.length() && port <= 65535; i++) {
            int digit = digits.charAt(i) - '0';
            if (digit < 0 || digit > 9) {
                return 0;
            }
            port = 10 * port + digit;
        }
        return port > 65535 ? 0 : port;
    }

    private static boolean isHost(String host) {
        boolean isAddress = host.startsWith("[") && host.endsWith("]") && host.length() > 2;
        String extra = isAddress ? "[]:." : "-._~";
        for (int i = 0; i < host.length(); i++) {
            char c = host.charAt(i);
            boolean isPlain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
            if (!isPlain && extra.indexOf(c) < 0) {
                return false;
            }
        }
        return !host.isEmpty();
    }

    /** Encodes spaces and characters beyond ASCII as %XX; returns null for text with control characters. */
    private static @Nullable String target(String text) {
        StringBuilder target = new StringBuilder(text.length() + 8);
        if (!text.startsWith("/")) {
            target.append('/');
        }
        for (byte octet : text.getBytes(StandardCharsets.UTF_8)) {
            int value = octet & 0xff;
            if (value < ' ' || value == 0x7f) {
                return null;
            }
            if (value == ' ' || value > 0x7f) {
                target.append('%').append(HEX.charAt(value >> 4)).append(HEX.charAt(value & 15));
            } else {
                target.append((char) value);
            }
        }
        return target.toString();
    }

    /** The port of the URL, or the default port of its scheme. */
    int effectivePort() {
        return port > 0 ? port : secure ? 443 : 80;
    }

    /** The URL as it is requested. */
    public String text() {
        return (secure ? "https://" : "http://") + authority + target;
    }
}
