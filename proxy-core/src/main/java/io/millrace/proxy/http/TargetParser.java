package io.millrace.proxy.http;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Parses request targets and Host fields into {@link TargetUri} objects (RFC 9112 s3.2, s3.3; RFC 3986 s3). */
final class TargetParser {

    private static final byte[] NOTHING = {};

    private TargetParser() {}

    static TargetResult parse(
            Method method, byte[] bytes, int from, int to, FieldSection fields, int minorVersion, boolean secure) {
        Authority host = new Authority(secure);
        int line = fields.find(FieldName.HOST);
        TargetProblem problem = hostProblem(fields, line, minorVersion);
        if (problem == null) {
            problem = readHost(fields, line, host);
        }
        return problem == null ? parse(method, bytes, from, to, host, minorVersion, secure) : problem;
    }

    static TargetResult parse(
            Method method, byte[] bytes, int from, int to, FieldSection fields, int minorVersion, RecentHost recent) {
        int line = fields.find(FieldName.HOST);
        TargetProblem problem = hostProblem(fields, line, minorVersion);
        if (problem != null) {
            return problem;
        }
        Authority host = recent.ofField(fields, line);
        if (host == null) {
            host = new Authority(recent.isSecure());
            problem = readHost(fields, line, host);
            if (problem != null) {
                return problem;
            }
            recent.keep(fields, line, host);
        }
        return parse(method, bytes, from, to, host, minorVersion, recent.isSecure());
    }

    private static TargetResult parse(
            Method method, byte[] bytes, int from, int to, Authority host, int minorVersion, boolean secure) {
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
                    : withPath(form, secure, host, bytes, from, to, mayBeExpression(method));
        }
        return parseAbsolute(bytes, from, to, mayBeExpression(method));
    }

    /**
     * Returns true for a purge method: the path of a purge may be a regular expression, which may contain backslashes.
     * Purges never reach an origin. A purge of a URL with a backslash is refused later.
     */
    private static boolean mayBeExpression(Method method) {
        return method == Method.PURGE || method == Method.BAN;
    }

    static TargetResult parseAbsolute(byte[] bytes, int from, int to) {
        return parseAbsolute(bytes, from, to, false);
    }

    private static TargetResult parseAbsolute(byte[] bytes, int from, int to, boolean allowsBackslash) {
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
            return withPath(TargetUri.Form.ABSOLUTE, secure, authority, bytes, authorityEnd, to, allowsBackslash);
        }
        byte[] target = new byte[to - authorityEnd + 1];
        target[0] = '/';
        System.arraycopy(bytes, authorityEnd, target, 1, to - authorityEnd);
        return withPath(TargetUri.Form.ABSOLUTE, secure, authority, target, 0, target.length, allowsBackslash);
    }

    private static TargetResult connectTarget(byte[] bytes, int from, int to, boolean secure) {
        Authority authority = new Authority(secure);
        TargetProblem problem = authority.read(bytes, from, to);
        if (problem != null) {
            return problem;
        }
        if (!authority.hasPort()) {
            return TargetProblem.PORT;
        }
        return authority.isEmpty()
                ? TargetProblem.HOST
                : new TargetUri(TargetUri.Form.AUTHORITY, secure, authority.host(), authority.port(), NOTHING, 0, 0, 0);
    }

    private static TargetResult withPath(
            TargetUri.Form form,
            boolean secure,
            Authority authority,
            byte[] bytes,
            int from,
            int to,
            boolean allowsBackslash) {
        int query = -1;
        for (int i = from; i < to; i++) {
            byte b = bytes[i];
            // Some origins treat a backslash as a slash. Clients do not send a backslash in a path, but browsers send
            // it in queries.
            if (b <= ' ' || b == 0x7f || b == '#' || (b == '\\' && query < 0 && !allowsBackslash)) {
                return TargetProblem.BYTE;
            }
            if (b == '?' && query < 0) {
                query = i - from;
            }
        }
        byte[] target = Arrays.copyOfRange(bytes, from, to);
        int pathEnd = query < 0 ? target.length : query;
        return new TargetUri(form, secure, authority.host(), authority.port(), target, 0, pathEnd, target.length);
    }

    /**
     * Returns the problem with the number of Host fields; null for none. {@code line} is the first Host field, or -1.
     */
    private static @Nullable TargetProblem hostProblem(FieldSection fields, int line, int minorVersion) {
        if (line < 0) {
            return minorVersion == 0 ? null : TargetProblem.HOST_MISSING;
        }
        return fields.next(FieldName.HOST, line) >= 0 ? TargetProblem.HOST_REPEATED : null;
    }

    private static @Nullable TargetProblem readHost(FieldSection fields, int line, Authority authority) {
        return line < 0 ? null : authority.read(fields.bytes(), fields.valueStart(line), fields.valueEnd(line));
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
}
