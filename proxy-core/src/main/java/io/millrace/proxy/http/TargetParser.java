package io.millrace.proxy.http;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Reads request targets and Host fields into {@link TargetUri}s (RFC 9112 s3.2, s3.3; RFC 3986 s3). */
final class TargetParser {

    private static final byte[] NOTHING = {};
    private static final String SUB_DELIMITERS = "!$&'()*+,;=";

    private TargetParser() {}

    static TargetResult parse(
            Method method, byte[] bytes, int from, int to, FieldSection fields, int minorVersion, boolean secure) {
        Authority host = new Authority(secure);
        TargetProblem problem = readHost(fields, minorVersion, host);
        if (problem != null) {
            return problem;
        }
        if (from >= to) {
            return TargetProblem.FORM;
        }
        if (method == Method.CONNECT) {
            return connectTarget(bytes, from, to, secure);
        }
        boolean asterisk = to - from == 1 && bytes[from] == '*';
        if (asterisk && method != Method.OPTIONS) {
            return TargetProblem.FORM;
        }
        if (asterisk || bytes[from] == '/') {
            TargetUri.Form form = asterisk ? TargetUri.Form.ASTERISK : TargetUri.Form.ORIGIN;
            return host.isEmpty() && minorVersion > 0
                    ? TargetProblem.HOST
                    : withPath(form, secure, host, bytes, from, to);
        }
        return parseAbsolute(bytes, from, to);
    }

    static TargetResult parseAbsolute(byte[] bytes, int from, int to) {
        boolean secure = startsWith(bytes, from, to, "https://");
        if (!secure && !startsWith(bytes, from, to, "http://")) {
            return hasScheme(bytes, from, to) ? TargetProblem.SCHEME : TargetProblem.FORM;
        }
        int authorityStart = from + (secure ? 8 : 7);
        int authorityEnd = authorityStart;
        while (authorityEnd < to && !endsAuthority(bytes[authorityEnd])) {
            authorityEnd++;
        }
        Authority authority = new Authority(secure);
        TargetProblem problem = authority.read(bytes, authorityStart, authorityEnd);
        if (problem != null) {
            return problem;
        }
        if (authority.isEmpty()) {
            return TargetProblem.HOST;
        }
        if (authorityEnd < to && bytes[authorityEnd] == '/') {
            return withPath(TargetUri.Form.ABSOLUTE, secure, authority, bytes, authorityEnd, to);
        }
        byte[] target = new byte[to - authorityEnd + 1];
        target[0] = '/';
        System.arraycopy(bytes, authorityEnd, target, 1, to - authorityEnd);
        return withPath(TargetUri.Form.ABSOLUTE, secure, authority, target, 0, target.length);
    }

    private static TargetResult connectTarget(byte[] bytes, int from, int to, boolean secure) {
        Authority authority = new Authority(secure);
        TargetProblem problem = authority.read(bytes, from, to);
        if (problem != null) {
            return problem;
        }
        if (!authority.hasPort) {
            return TargetProblem.PORT;
        }
        return authority.isEmpty()
                ? TargetProblem.HOST
                : new TargetUri(TargetUri.Form.AUTHORITY, secure, authority.host, authority.port, NOTHING, 0, 0, 0);
    }

    private static TargetResult withPath(
            TargetUri.Form form, boolean secure, Authority authority, byte[] bytes, int from, int to) {
        int query = -1;
        for (int i = from; i < to; i++) {
            byte b = bytes[i];
            // A backslash is a slash for some origins, and no client sends it in a path; in queries browsers do.
            if (b <= ' ' || b == 0x7f || b == '#' || (b == '\\' && query < 0)) {
                return TargetProblem.BYTE;
            }
            if (b == '?' && query < 0) {
                query = i - from;
            }
        }
        byte[] target = Arrays.copyOfRange(bytes, from, to);
        int pathEnd = query < 0 ? target.length : query;
        return new TargetUri(form, secure, authority.host, authority.port, target, 0, pathEnd, target.length);
    }

    private static @Nullable TargetProblem readHost(FieldSection fields, int minorVersion, Authority authority) {
        int line = fields.find(FieldName.HOST);
        if (line < 0) {
            return minorVersion == 0 ? null : TargetProblem.HOST_MISSING;
        }
        if (fields.next(FieldName.HOST, line) >= 0) {
            return TargetProblem.HOST_REPEATED;
        }
        return authority.read(fields.bytes(), fields.valueStart(line), fields.valueEnd(line));
    }

    private static boolean endsAuthority(byte b) {
        return b == '/' || b == '?' || b == '#';
    }

    private static boolean startsWith(byte[] bytes, int from, int to, String prefix) {
        int end = from + prefix.length();
        return end <= to && FieldLexer.equalsIgnoreCase(bytes, from, end, prefix);
    }

    private static boolean hasScheme(byte[] bytes, int from, int to) {
        for (int i = from; i + 2 < to; i++) {
            if (bytes[i] == ':') {
                return i > from && bytes[i + 1] == '/' && bytes[i + 2] == '/';
            }
        }
        return false;
    }

    /** Host and port of an authority (RFC 3986 s3.2), the host in lower case. */
    private static final class Authority {

        private byte[] host = NOTHING;
        private int port;
        private boolean hasPort;

        Authority(boolean secure) {
            port = TargetUri.defaultPort(secure);
        }

        boolean isEmpty() {
            return host.length == 0;
        }

        /** Reads {@code host [":" [port]]}; an empty range leaves the host empty. */
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

        /** Position after a registered name or an IPv4 address, -1 when a byte cannot stand there. */
        private static int nameEnd(byte[] bytes, int from, int to) {
            int i = from;
            while (i < to && bytes[i] != ':') {
                byte b = bytes[i];
                if (b == '%') {
                    boolean encoded = i + 2 < to
                            && FieldLexer.hexDigit(bytes[i + 1]) >= 0
                            && FieldLexer.hexDigit(bytes[i + 2]) >= 0;
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

        /** Position after {@code [IPv6 address]}, -1 when it is none; zone identifiers are refused. */
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
}
