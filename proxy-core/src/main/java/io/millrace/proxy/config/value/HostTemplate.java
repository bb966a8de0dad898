package io.millrace.proxy.config.value;

import com.google.re2j.Matcher;
import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import org.jspecify.annotations.Nullable;

/** Expressions for hosts, and what they put in place of {@code $0} to {@code $9}. Thread-safe: no state. */
public final class HostTemplate {
    /** As Traffic Server has it: {@code $1} to {@code $9} name groups. */
    private static final int GROUPS_MAX = 9;

    /** The longest host name that DNS can carry. */
    private static final int HOST_LENGTH_MAX = 255;

    private HostTemplate() {}

    /** Hosts are without case, so the expression is. */
    public static Pattern compile(String expression) {
        return Regex.compile(expression, Pattern.CASE_INSENSITIVE);
    }

    static String checkExpression(String expression) throws InvalidValueException {
        try {
            int groups = compile(expression).groupCount();
            if (groups > GROUPS_MAX) {
                throw new InvalidValueException("'" + expression + "' has " + groups + " groups; the limit is "
                        + GROUPS_MAX + "; (?:...) does not count as a group");
            }
            return expression;
        } catch (PatternSyntaxException e) {
            throw new InvalidValueException(
                    "'" + Regex.shown(expression) + "' is not an expression: " + e.getDescription());
        }
    }

    /** Whether {@code $0} to {@code $9} begins there. */
    public static boolean isSubstitution(String text, int i) {
        return text.charAt(i) == '$' && i + 1 < text.length() && isDigit(text.charAt(i + 1));
    }

    /** The largest group that is named; -1 for none. */
    public static int lastGroup(String text) {
        int last = -1;
        for (int i = 0; i < text.length(); i++) {
            if (isSubstitution(text, i)) {
                last = Math.max(last, text.charAt(i + 1) - '0');
            }
        }
        return last;
    }

    /** With what the match found; a group that took no part leaves nothing. */
    static String expand(String text, Matcher match) {
        StringBuilder expanded = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            if (isSubstitution(text, i)) {
                i++;
                String group = match.group(text.charAt(i) - '0');
                expanded.append(group == null ? "" : group);
            } else {
                expanded.append(text.charAt(i));
            }
        }
        return expanded.toString();
    }

    /**
     * As {@link #expand}, of a path: the client chooses its host, and must not choose with it where in the origin's tree it is.
     *
     * @return null when the host has what no name has, such as an encoded slash, or the path gets a dot segment of it
     */
    static @Nullable String expandPath(String path, Matcher match) {
        String expanded = expandQuery(path, match);
        if (expanded == null || expanded.equals(path)) {
            return expanded;
        }
        for (String segment : expanded.replace("%2e", ".").replace("%2E", ".").split("/", -1)) {
            if (segment.equals(".") || segment.equals("..")) {
                return null;
            }
        }
        return expanded;
    }

    /**
     * As {@link #expand}, of a query.
     *
     * @return null when the host has what no name has, such as an ampersand
     */
    static @Nullable String expandQuery(String query, Matcher match) {
        for (int group = 0; group <= match.groupCount(); group++) {
            String found = query.contains("$" + group) ? match.group(group) : null;
            if (found != null && !found.chars().allMatch(HostTemplate::isOfHost)) {
                return null;
            }
        }
        return expand(query, match);
    }

    /** What names and addresses have. */
    private static boolean isOfHost(int c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || "-._~:[]".indexOf(c) >= 0;
    }

    /** A host that a connection can be made to: labels of 1 to 63 characters, or an address. */
    static String checkExpanded(String host) throws InvalidValueException {
        String name = RuleUrl.host(host, host);
        if (name.startsWith("[")) {
            return name;
        }
        boolean ok = name.length() <= HOST_LENGTH_MAX;
        for (String label : (name.endsWith(".") ? name.substring(0, name.length() - 1) : name).split("\\.", -1)) {
            ok &= !label.isEmpty() && label.length() <= 63;
        }
        if (!ok) {
            throw new InvalidValueException("'" + host + "' is not a host");
        }
        return name;
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }
}
