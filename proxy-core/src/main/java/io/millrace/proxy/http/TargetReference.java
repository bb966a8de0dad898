package io.millrace.proxy.http;

import org.jspecify.annotations.Nullable;

/** Resolves URI references against a target URI (RFC 3986 s5.2). */
final class TargetReference {

    private TargetReference() {}

    static @Nullable TargetUri resolve(TargetUri base, String reference) {
        int fragment = reference.indexOf('#');
        String text = (fragment < 0 ? reference : reference.substring(0, fragment)).strip();
        String whole;
        if (hasScheme(text)) {
            whole = text;
        } else if (text.startsWith("//")) {
            whole = base.scheme() + ":" + text;
        } else {
            whole = base.scheme() + "://" + base.authority() + pathAndQuery(base, text);
        }
        int authority = whole.indexOf("//");
        int path = authority < 0 ? -1 : indexOfAny(whole, authority + 2);
        if (path >= 0 && whole.charAt(path) == '/') {
            whole = whole.substring(0, path) + withoutDotSegments(whole.substring(path));
        }
        return TargetUri.parseAbsolute(whole) instanceof TargetUri target ? target : null;
    }

    private static String pathAndQuery(TargetUri base, String text) {
        if (text.isEmpty()) {
            return base.pathAndQuery();
        }
        if (text.charAt(0) == '/') {
            return text;
        }
        String path = base.path();
        if (text.charAt(0) == '?') {
            return path + text;
        }
        return path.substring(0, path.lastIndexOf('/') + 1) + text;
    }

    /** Applies {@code remove_dot_segments} (RFC 3986 s5.2.4) to an absolute path. The query is unchanged. */
    private static String withoutDotSegments(String pathAndQuery) {
        int query = pathAndQuery.indexOf('?');
        String path = query < 0 ? pathAndQuery : pathAndQuery.substring(0, query);
        StringBuilder out = new StringBuilder(path.length());
        int position = 0;
        while (position < path.length()) {
            int next = path.indexOf('/', position + 1);
            int end = next < 0 ? path.length() : next;
            String segment = path.substring(position + 1, end);
            boolean last = next < 0;
            if (segment.equals("..")) {
                out.setLength(Math.max(0, out.lastIndexOf("/")));
            }
            if (!segment.equals(".") && !segment.equals("..")) {
                out.append('/').append(segment);
            } else if (last) {
                out.append('/');
            }
            position = end;
        }
        return query < 0
                ? out.toString()
                : out.append(pathAndQuery, query, pathAndQuery.length()).toString();
    }

    private static boolean hasScheme(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == ':') {
                return i > 0;
            }
            boolean schemeCharacter = (c >= 'a' && c <= 'z')
                    || (c >= 'A' && c <= 'Z')
                    || (i > 0 && ((c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.'));
            if (!schemeCharacter) {
                return false;
            }
        }
        return false;
    }

    private static int indexOfAny(String text, int from) {
        for (int i = from; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '/' || c == '?') {
                return i;
            }
        }
        return -1;
    }
}
