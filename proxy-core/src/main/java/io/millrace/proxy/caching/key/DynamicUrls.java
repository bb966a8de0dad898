package io.millrace.proxy.caching.key;

import io.millrace.proxy.http.FieldLexer;
import io.millrace.proxy.http.TargetUri;

/** Recognizes URLs of dynamic content by Traffic Server's rules. Thread-safe: no state. */
public final class DynamicUrls {

    private static final byte[] CGI = {'c', 'g', 'i'};

    private DynamicUrls() {}

    /** Returns true if the URL has a query or a semicolon, or its path ends in {@code .asp} or contains {@code cgi}. */
    public static boolean looksDynamic(TargetUri target) {
        if (target.hasQuery()) {
            return true;
        }
        byte[] b = target.targetBytes();
        int end = target.pathEnd();
        for (int i = target.pathStart(); i < end; i++) {
            if (b[i] == ';' || (b[i] == CGI[0] && i + 2 < end && b[i + 1] == CGI[1] && b[i + 2] == CGI[2])) {
                return true;
            }
        }
        int suffix = end - ".asp".length();
        return suffix >= target.pathStart() && FieldLexer.equals(b, suffix, end, ".asp");
    }
}
