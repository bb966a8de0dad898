package io.millrace.proxy.config.value;

import com.google.re2j.Matcher;
import io.netty.util.NetUtil;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A URL of a remap rule: either the pattern of a rule (FROM) or the target (TO). Immutable.
 *
 * @param scheme {@code http}, {@code https}, or for WebSocket {@code ws} or {@code wss}; null if the rule
 *     has no scheme and matches http and https
 * @param host in lower case, an IPv6 address in brackets. For rules with a regular expression: the expression, or a
 *     template with {@code $0} to {@code $9}. Null if the rule matches every host
 * @param port 1 to 65535, or -1 if the URL has none
 * @param path begins with a slash
 * @param query query that is prepended to the client's query, without question mark; null for none
 */
public record RuleUrl(
        @Nullable String scheme,
        @Nullable String host,
        int port,
        String path,
        @Nullable String query) {
    private static final List<String> SCHEMES = List.of("http", "https", "ws", "wss");

    /** Creates a URL without a query. */
    public RuleUrl(@Nullable String scheme, @Nullable String host, int port, String path) {
        this(scheme, host, port, path, null);
    }

    /** Returns the port of the URL, else the default port of the scheme: 80 or 443. */
    public int effectivePort() {
        return port >= 0 ? port : isSecure() ? 443 : 80;
    }

    /** Returns true if the scheme uses TLS. */
    public boolean isSecure() {
        return "https".equals(scheme) || "wss".equals(scheme);
    }

    /** Returns true if the rule matches WebSocket requests, and only these (RFC 6455 s3). */
    public boolean isWebSocket() {
        return "ws".equals(scheme) || "wss".equals(scheme);
    }

    /** Parses the pattern of a rule: {@code http://host[:port]/path}, or a path alone for every host. */
    public static RuleUrl parseFrom(String text) throws InvalidValueException {
        if (text.startsWith("/") && !text.startsWith("//")) {
            return new RuleUrl(null, null, -1, path(text, text));
        }
        return parse(text, false, false);
    }

    /**
     * Parses the target of a rule: {@code http://host[:port][/path][?query]}, with {@code $0} to {@code $9} in host,
     * path and query.
     */
    public static RuleUrl parseTo(String text) throws InvalidValueException {
        return parse(text, false, true);
    }

    /** Parses a host of an origin group: {@code http://host[:port]}. */
    public static RuleUrl parseOrigin(String text) throws InvalidValueException {
        RuleUrl url = parse(text, false, false);
        if (!url.path.equals("/")) {
            throw new InvalidValueException(
                    "'" + text + "' has a path; write it without one, because the path is that of remap[].to",
                    url.authority());
        }
        return url;
    }

    /** Returns scheme, host and port as written: {@code http://10.0.0.1:8080}. */
    public String authority() {
        return scheme + "://" + host + (port < 0 ? "" : ":" + port);
    }

    /** Returns true if the host is an IP address, for which no certificate is issued. */
    public boolean isAddress() {
        return host != null && (host.startsWith("[") || NetUtil.isValidIpV4Address(host));
    }

    /**
     * Parses the pattern of a rule with a regular expression as the host. The expression ends where the port or the
     * path begins.
     */
    public static RuleUrl parseRegex(String text) throws InvalidValueException {
        return parse(text, true, false);
    }

    private static RuleUrl parse(String text, boolean regex, boolean template) throws InvalidValueException {
        int schemeEnd = text.indexOf("://");
        if (schemeEnd < 0) {
            throw new InvalidValueException(
                    "'" + text + "' is not a URL such as http://host/path",
                    text.isEmpty() || text.startsWith("/") ? null : "http://" + text);
        }
        String scheme = text.substring(0, schemeEnd).toLowerCase(Locale.ROOT);
        if (!SCHEMES.contains(scheme)) {
            throw new InvalidValueException(
                    "the scheme '" + scheme + "' is not supported (" + String.join(", ", SCHEMES) + ")",
                    Suggestions.closest(scheme, SCHEMES));
        }
        int authorityStart = schemeEnd + 3;
        int slash = text.indexOf('/', authorityStart);
        int authorityEnd = !regex ? endOfAuthority(text, authorityStart) : slash >= 0 ? slash : text.length();
        String authority = text.substring(authorityStart, authorityEnd);
        if (regex) {
            return ofRegex(scheme, authority, path(slash < 0 ? "" : text.substring(slash), text));
        }
        if (authority.indexOf('@') >= 0) {
            throw new InvalidValueException("'" + text + "' must not carry a user name or password");
        }
        int colon = authority.endsWith("]") ? -1 : authority.lastIndexOf(':');
        int port = colon < 0 ? -1 : port(authority.substring(colon + 1));
        String host = host(colon < 0 ? authority : authority.substring(0, colon), text, template);
        int mark = template ? text.indexOf('?', authorityEnd) : -1;
        return new RuleUrl(
                scheme,
                host,
                port,
                path(text.substring(authorityEnd, mark < 0 ? text.length() : mark), text),
                mark < 0 ? null : query(text.substring(mark + 1), text));
    }

    private static @Nullable String query(String query, String text) throws InvalidValueException {
        if (query.indexOf('#') >= 0) {
            throw new InvalidValueException("'" + text + "' has a fragment, which clients and proxies never send");
        }
        checkCharacters(query, text);
        return query.isEmpty() ? null : query;
    }

    private static RuleUrl ofRegex(String scheme, String authority, String path) throws InvalidValueException {
        int colon = authority.lastIndexOf(':');
        boolean hasPort = colon >= 0
                && colon < authority.length() - 1
                && authority.substring(colon + 1).chars().allMatch(c -> c >= '0' && c <= '9');
        int port = hasPort ? port(authority.substring(colon + 1)) : -1;
        String expression = hasPort ? authority.substring(0, colon) : authority;
        if (expression.isEmpty()) {
            throw new InvalidValueException("'" + scheme + "://" + authority + path + "' has no host");
        }
        return new RuleUrl(scheme, HostTemplate.checkExpression(expression), port, path);
    }

    private static int endOfAuthority(String text, int start) {
        for (int i = start; i < text.length(); i++) {
            if ("/?#".indexOf(text.charAt(i)) >= 0) {
                return i;
            }
        }
        return text.length();
    }

    private static int port(String digits) throws InvalidValueException {
        if (digits.isEmpty() || digits.length() > 5 || !digits.chars().allMatch(c -> c >= '0' && c <= '9')) {
            throw new InvalidValueException("'" + digits + "' is not a port");
        }
        int port = Integer.parseInt(digits);
        if (port < 1 || port > 65535) {
            throw new InvalidValueException("port " + port + " is outside the limits of 1 to 65535");
        }
        return port;
    }

    /**
     * Checks a host and returns it in lower case; an IPv6 address must be in brackets. Error messages quote {@code
     * text}, which contains the host.
     */
    public static String host(String host, String text) throws InvalidValueException {
        return host(host, text, false);
    }

    private static String host(String host, String text, boolean template) throws InvalidValueException {
        if (host.isEmpty()) {
            throw new InvalidValueException("'" + text + "' has no host");
        }
        if (host.startsWith("[")) {
            if (!host.endsWith("]") || !NetUtil.isValidIpV6Address(host.substring(1, host.length() - 1))) {
                throw new InvalidValueException("'" + host + "' is not an IPv6 address in brackets");
            }
            return host.toLowerCase(Locale.ROOT);
        }
        for (int i = 0; i < host.length(); i++) {
            char c = host.charAt(i);
            boolean isAllowed = (template && HostTemplate.isSubstitution(host, i))
                    || (c >= 'a' && c <= 'z')
                    || (c >= 'A' && c <= 'Z')
                    || (c >= '0' && c <= '9')
                    || "-._~".indexOf(c) >= 0;
            if (!isAllowed) {
                throw new InvalidValueException("the host '" + host + "' contains '" + c + "'");
            }
        }
        return host.toLowerCase(Locale.ROOT);
    }

    private static String path(String path, String text) throws InvalidValueException {
        for (int i = 0; i < path.length(); i++) {
            char c = path.charAt(i);
            if (c == '?' || c == '#') {
                throw new InvalidValueException(
                        "'" + text + "' must not have a query; the client's query is appended unchanged",
                        text.substring(0, text.length() - path.length() + i));
            }
        }
        checkCharacters(path, text);
        return path.isEmpty() ? "/" : path;
    }

    private static void checkCharacters(String part, String text) throws InvalidValueException {
        for (int i = 0; i < part.length(); i++) {
            char c = part.charAt(i);
            if (c == '%' && !isEncoding(part, i)) {
                throw new InvalidValueException("'" + text + "' has a % without two hexadecimal digits", "%25");
            }
            if (c <= ' ' || c >= 127 || "\"<>\\^`{|}".indexOf(c) >= 0) {
                throw new InvalidValueException("'" + text + "' contains a character that a URL must percent-encode");
            }
        }
    }

    private static boolean isEncoding(String path, int i) {
        return i + 2 < path.length()
                && Character.digit(path.charAt(i + 1), 16) >= 0
                && Character.digit(path.charAt(i + 2), 16) >= 0;
    }

    /**
     * Returns this URL with {@code $0} to {@code $9} replaced by the groups of a match. Returns null if the result has
     * no valid host, or if dot segments would lead out of its path.
     */
    public @Nullable RuleUrl expand(Matcher match) {
        String expanded = HostTemplate.expand(String.valueOf(host), match);
        String expandedPath = HostTemplate.expandPath(path, match);
        String expandedQuery = query == null ? "" : HostTemplate.expandQuery(query, match);
        if (expandedPath == null || expandedQuery == null) {
            return null;
        }
        try {
            return new RuleUrl(
                    scheme,
                    HostTemplate.checkExpanded(expanded),
                    port,
                    path(expandedPath, expandedPath),
                    query(expandedQuery, expandedQuery));
        } catch (InvalidValueException e) {
            return null;
        }
    }

    /** Formats the URL as in the file. */
    @Override
    public String toString() {
        if (host == null) {
            return path;
        }
        return authority() + path + (query == null ? "" : "?" + query);
    }
}
