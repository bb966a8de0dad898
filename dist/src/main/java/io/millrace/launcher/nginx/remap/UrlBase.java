package io.millrace.launcher.nginx.remap;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The part of a remap rule's URL pattern before the path: scheme, host and port. Immutable.
 *
 * @param rank order of the rules: exact names, then wildcards, expressions, and all hosts
 * @param host host name or expression; empty if every host and scheme matches
 * @param expression whether {@code host} is a regular expression
 * @param port port to which clients connect; 0 if every port matches
 */
public record UrlBase(int rank, String scheme, String host, boolean expression, int port) {
    /** Rank of the rule for all hosts. */
    static final int ANY = 10_000;
    /** Rank before the first regular expression. Regular expressions follow in the order of the file. */
    private static final int REGEX = 5000;

    /**
     * Returns the base for a name of {@code server_name}; null if the name cannot be expressed.
     *
     * @param order number of the name in the order of the file
     */
    @Nullable
    public static UrlBase of(String scheme, String name, int port, int order) {
        String lower = name.toLowerCase(Locale.ROOT);
        if (name.startsWith("~")) {
            String expression = name.substring(1).replace("(?<", "(?P<");
            String begin = expression.startsWith("^") ? expression.substring(1) : ".*" + expression;
            String whole = begin.endsWith("$") ? begin.substring(0, begin.length() - 1) : begin + ".*";
            return new UrlBase(REGEX + order, scheme, whole, true, port);
        }
        // Wildcards at the beginning of a name precede those at its end. A longer name precedes a shorter one.
        if (lower.startsWith("*.")) {
            String rest = lower.substring(1).replace(".", "\\.");
            return new UrlBase(2000 - Math.min(1900, lower.length()), scheme, ".*" + rest, true, port);
        }
        if (lower.endsWith(".*")) {
            String rest = lower.substring(0, lower.length() - 1).replace(".", "\\.");
            return new UrlBase(4000 - Math.min(1900, lower.length()), scheme, rest + ".*", true, port);
        }
        return lower.contains("*") || lower.contains("$") ? null : new UrlBase(0, scheme, lower, false, port);
    }

    /** Returns the base for all hosts of a scheme. */
    public static UrlBase any(String scheme, int port) {
        return new UrlBase(ANY, scheme, ".*", true, port);
    }

    /** Returns the base for all hosts of both schemes. */
    public static UrlBase allUrls() {
        return new UrlBase(ANY, "", "", false, 0);
    }

    public boolean isForAllUrls() {
        return host.isEmpty();
    }

    public boolean isForAllHosts() {
        return rank == ANY;
    }

    /** Returns the key that contains the URL pattern of a remap rule to an origin, such as {@code regex_map}. */
    public String verb() {
        return (expression ? "regex_map" : "map") + (port == 0 ? "" : "_with_recv_port");
    }

    /** Returns the URL pattern of a rule for a path. */
    public String pattern(String path) {
        String encoded = encoded(path);
        return isForAllUrls() ? encoded : scheme + "://" + host + (port == 0 ? "" : ":" + port) + encoded;
    }

    /** Converts a decoded path, as nginx uses it, to an encoded path for rules. */
    public static String encoded(String path) {
        return path.replace(" ", "%20");
    }

    /** The text in a target URL that is replaced by the host of the request. */
    public String hostInTarget() {
        return expression ? "$0" : host;
    }
}
