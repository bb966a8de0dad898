package io.millrace.proxy.observe.trace;

/**
 * The positions of the parts of an absolute URL in an array. One object is used for many URLs. Confined to one thread.
 */
final class SpanUrl {
    private static final int HTTP_PORT = 80;
    private static final int HTTPS_PORT = 443;

    private byte[] bytes = {};
    private int authorityStart;
    private int authorityEnd;
    private int pathEnd;
    private int end;
    private int hostEnd;
    private boolean isSecure;

    /** Finds the parts of a URL. A URL without a scheme counts as an http URL. */
    void parse(byte[] array, int from, int to) {
        bytes = array;
        end = to;
        int colon = indexOf(from, (byte) ':');
        boolean hasScheme = colon + 2 < to && array[colon + 1] == '/' && array[colon + 2] == '/';
        authorityStart = hasScheme ? colon + "://".length() : from;
        isSecure = hasScheme && colon - from == "https".length();
        int at = authorityStart;
        hostEnd = -1;
        while (at < to && array[at] != '/' && array[at] != '?') {
            // An IPv6 address has colons too, in brackets.
            if (array[at] == ':') {
                hostEnd = at;
            } else if (array[at] == ']') {
                hostEnd = -1;
            }
            at++;
        }
        authorityEnd = at;
        if (hostEnd < 0) {
            hostEnd = at;
        }
        pathEnd = indexOf(at, (byte) '?');
    }

    private int indexOf(int from, byte wanted) {
        int at = from;
        while (at < end && bytes[at] != wanted) {
            at++;
        }
        return at;
    }

    boolean isSecure() {
        return isSecure;
    }

    int hostStart() {
        return authorityStart;
    }

    int hostEnd() {
        return hostEnd;
    }

    int pathStart() {
        return authorityEnd;
    }

    int pathEnd() {
        return pathEnd;
    }

    /** Returns true if the URL has a question mark. */
    boolean hasQuery() {
        return pathEnd < end;
    }

    /** Start of the query, without the question mark. Only valid with {@link #hasQuery}. */
    int queryStart() {
        return pathEnd + 1;
    }

    int end() {
        return end;
    }

    int port() {
        int port = 0;
        for (int i = hostEnd + 1; i < authorityEnd; i++) {
            port = port * 10 + bytes[i] - '0';
        }
        return port > 0 ? port : isSecure ? HTTPS_PORT : HTTP_PORT;
    }
}
