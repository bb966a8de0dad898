package io.millrace.proxy.http;

import org.jspecify.annotations.Nullable;

/** The host (in lower case) and the port of a URI or Host field (RFC 3986 s3.2). Unchanged after {@link #read}. */
final class Authority {

    private static final byte[] NOTHING = {};
    private static final String SUB_DELIMITERS = "!$&'()*+,;=";

    private byte[] host = NOTHING;
    private int port;
    private boolean hasPort;

    Authority(boolean secure) {
        port = TargetUri.defaultPort(secure);
    }

    boolean isEmpty() {
        return host.length == 0;
    }

    /** The host; must not be changed. */
    byte[] host() {
        return host;
    }

    /** The port; the default port of the scheme if the authority has none. */
    int port() {
        return port;
    }

    boolean hasPort() {
        return hasPort;
    }

    /** Parses {@code host [":" [port]]}. An empty range leaves the host empty. Returns null if there is no problem. */
    @Nullable
    TargetProblem read(byte[] bytes, int from, int to) {
        for (int i = from; i < to; i++) {
            if (bytes[i] == '@') {
                return TargetProblem.USERINFO;
            }
        }
        int hostEnd = from < to && bytes[from] == '[' ? literalEnd(bytes, from, to) : nameEnd(bytes, from, to);
        if (hostEnd < 0 || hostEnd - from > TargetUri.HOST_LENGTH_MAX) {
            return TargetProblem.HOST;
        }
        if (hostEnd < to) {
            TargetProblem problem = readPort(bytes, hostEnd, to);
            if (problem != null) {
                return problem;
            }
            if (hostEnd == from) {
                return TargetProblem.HOST;
            }
        }
        host = new byte[hostEnd - from];
        for (int i = from; i < hostEnd; i++) {
            host[i - from] = (byte) FieldLexer.lower(bytes[i]);
        }
        return null;
    }

    private @Nullable TargetProblem readPort(byte[] bytes, int colon, int to) {
        if (bytes[colon] != ':') {
            return TargetProblem.HOST;
        }
        if (colon + 1 < to) {
            long number = FieldLexer.number(bytes, colon + 1, to);
            if (number < 1 || number > 65_535) {
                return TargetProblem.PORT;
            }
            port = (int) number;
            hasPort = true;
        }
        return null;
    }

    /** Returns the position after a registered name or an IPv4 address; -1 if a byte is not allowed. */
    private static int nameEnd(byte[] bytes, int from, int to) {
        int i = from;
        while (i < to && bytes[i] != ':') {
            byte b = bytes[i];
            if (b == '%') {
                boolean encoded =
                        i + 2 < to && FieldLexer.hexDigit(bytes[i + 1]) >= 0 && FieldLexer.hexDigit(bytes[i + 2]) >= 0;
                if (!encoded) {
                    return -1;
                }
            } else if (!UriBytes.isUnreserved(b) && SUB_DELIMITERS.indexOf(b) < 0) {
                return -1;
            }
            i++;
        }
        return i;
    }

    /** Returns the position after {@code [IPv6 address]}; -1 if malformed. Zone identifiers are refused. */
    private static int literalEnd(byte[] bytes, int from, int to) {
        int colons = 0;
        for (int i = from + 1; i < to; i++) {
            byte b = bytes[i];
            if (b == ']') {
                return colons >= 2 ? i + 1 : -1;
            }
            colons += b == ':' ? 1 : 0;
            if (b != ':' && b != '.' && FieldLexer.hexDigit(b) < 0) {
                return -1;
            }
        }
        return -1;
    }
}
