package io.millrace.proxy.exchange.esi;

import io.millrace.proxy.http.TargetUri;

/**
 * Formats URLs for log lines and for texts to clients. Omits query and user information, because they may contain
 * secrets. Replaces each character that is not printable ASCII by an underscore. No state.
 */
final class PrintableUrl {
    private static final int LENGTH_MAX = 200;

    private PrintableUrl() {}

    static String of(TargetUri target) {
        return of(target.asString());
    }

    /** Returns the text of a URL or of a relative reference. The reference need not be valid. */
    static String of(String reference) {
        int end = reference.length();
        for (int i = 0; i < end; i++) {
            if (reference.charAt(i) == '?' || reference.charAt(i) == '#') {
                end = i;
            }
        }
        int authority = reference.indexOf("//") + 2;
        int start = authority < 2 || authority > end ? 0 : authority;
        int path = reference.indexOf('/', start);
        int at = start == 0 ? -1 : reference.lastIndexOf('@', (path < 0 || path > end ? end : path) - 1);
        StringBuilder text = new StringBuilder(Math.min(end, LENGTH_MAX) + 3);
        for (int i = 0; i < end && text.length() < LENGTH_MAX; i++) {
            char c = reference.charAt(i);
            if (i < start || i > at) {
                text.append(c > ' ' && c < 0x7f ? c : '_');
            }
        }
        return end > LENGTH_MAX ? text.append("...").toString() : text.toString();
    }
}
