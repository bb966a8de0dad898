package io.millrace.proxy.config.value;

import com.google.re2j.Matcher;
import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import org.jspecify.annotations.Nullable;

/**
 * Regular expressions for hosts, and templates with {@code $0} to {@code $9} for the groups of a match. Thread-safe:
 * stateless.
 */
public final class HostTemplate {
    /** Limit of groups, as in Traffic Server: {@code $1} to {@code $9} refer to groups. */
    private static final int GROUPS_MAX = 9;

    /** Length of the longest host name in DNS. */
    private static final int HOST_LENGTH_MAX = 255;

    private HostTemplate() {}

    /** Compiles a regular expression for hosts. The pattern ignores case, since host names do so. */
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
                    "'" + Regex.shown(expression) + "' is not a regular expression: " + e.getDescription());
        }
    }

    /** Returns true if a reference, {@code $0} to {@code $9}, begins at an index. */
    public static boolean isSubstitution(String text, int i) {
        return text.charAt(i) == '$' && i + 1 < text.length() && isDigit(text.charAt(i + 1));
    }

    /** Returns the highest group that the text refers to; -1 for none. */
    public static int lastGroup(String text) {
        int last = -1;
        for (int i = 0; i < text.length(); i++) {
            if (isSubstitution(text, i)) {
                last = Math.max(last, text.charAt(i + 1) - '0');
            }
        }
        return last;
    }

    /** Replaces each reference by the text of its group. A group that did not match is empty. */
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
     * Like {@link #expand}, for a path. The client chooses the host of its request, but this host must not select other
     * directories of the origin.
     *
     * @return null if a group contains a character that no host name has, such as an encoded slash; also null if the
     *     path would get a dot segment
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
     * Like {@link #expand}, for a query.
     *
     * @return null if a group contains a character that no host name has, such as an ampersand
     */
    static @Nullable String expandQuery(String query, Matcher match) {
        for (int group = 0; group <= match.groupCount(); group++) {
            String found = query.contains("$" + group) ? match.group(group) : null;
            if (found != null && !found.chars().allMatch(HostTemplate::isHostCharacter)) {
                return null;
            }
        }
        return expand(query, match);
    }

    /** Returns true if a character occurs in host names and addresses. */
    private static boolean isHostCharacter(int c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || "-._~:[]".indexOf(c) >= 0;
    }

    /**
     * Checks a host after its expansion, and returns it in normalized form. The host must consist of labels of 1 to 63
     * characters, or be an address.
     */
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
