package io.millrace.launcher.importing.draft;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Converts regular expressions for a part of a URL to expressions for the whole URL. In RE2, an anchor in the middle of
 * an expression never matches; each alternative therefore gets the beginning of the URL instead. Stateless.
 */
public final class UrlExpressions {
    /** Expression for scheme and host, the part of a URL before its path. */
    private static final String BEFORE_PATH = "^[a-z]+://[^/]+";

    /**
     * Escape sequences of a regular expression that match characters which are percent-encoded in the paths of rules.
     */
    private static final Pattern ENCODED_CLASS = Pattern.compile("\\\\[sxtrnfaQpP]");

    /** The beginning of a named group. */
    private static final Pattern GROUP_NAME = Pattern.compile("\\(\\?P?<\\w+>");

    /** Characters that are always percent-encoded in the normal form of a URL. */
    public static final String ALWAYS_ENCODED = "\"<>`{}|^%[]\\";

    /** Characters that may be percent-encoded or not in the normal form of a URL, as the client sent them. */
    public static final String KEPT_ENCODED = "./";

    /** Characters of a character class that are percent-encoded in the paths of rules. */
    private static final Pattern ENCODED = Pattern.compile("[^!-~]|[\"<>`{}|^%\\\\\\[\\]]");

    private UrlExpressions() {}

    /**
     * Converts an expression for the path and the query to one for the whole URL. Returns null if an anchor is inside a
     * group, or is not at the beginning or end of an alternative.
     */
    @Nullable
    public static String ofTarget(String expression) {
        return within(BEFORE_PATH, expression);
    }

    /**
     * Converts an expression for the query, without its question mark, to one for the whole URL. Returns null as
     * {@link #ofTarget} does.
     */
    @Nullable
    public static String ofQuery(String expression) {
        return within("^[^?]*\\?", expression);
    }

    private static @Nullable String within(String before, String expression) {
        List<String> parts = new ArrayList<>();
        String whole = withoutFlag(expression);
        if (!hasAnchor(whole)) {
            return flag(expression) + before + ".*(?:" + whole + ")";
        }
        for (String each : alternatives(whole)) {
            boolean start = each.startsWith("^");
            String body = start ? each.substring(1) : each;
            if (hasAnchor(endsWithAnchor(body) ? body.substring(0, body.length() - 1) : body)) {
                return null;
            }
            parts.add(before + (start ? "" : ".*") + body);
        }
        return flag(expression) + String.join("|", parts);
    }

    /**
     * Converts an expression for the path to one for the whole URL with any query. Returns null as {@link #ofTarget}
     * does.
     */
    @Nullable
    public static String ofPath(String expression) {
        List<String> parts = new ArrayList<>();
        for (String each : alternatives(withoutFlag(expression))) {
            boolean start = each.startsWith("^");
            boolean end = endsWithAnchor(each);
            String body = each.substring(start ? 1 : 0, Math.max(start ? 1 : 0, each.length() - (end ? 1 : 0)));
            if (hasAnchor(body)) {
                return null;
            }
            parts.add(BEFORE_PATH + (start ? "" : "[^?]*") + withoutQuery(body) + (end ? "(?:\\?|$)" : ""));
        }
        return flag(expression) + String.join("|", parts);
    }

    /**
     * Converts an expression for paths that another proxy decodes to one for paths in the normal form of rules. Returns
     * null if a character class or an escape sequence contains a character that is always encoded.
     *
     * @param characters characters that can be encoded in the normal form
     */
    @Nullable
    public static String ofDecodedPath(String expression, String characters) {
        if (expression.chars().anyMatch(c -> c < '!' || c > '~')
                || ENCODED_CLASS.matcher(expression).find()) {
            return null;
        }
        StringBuilder out = new StringBuilder();
        Matcher name = GROUP_NAME.matcher(expression);
        int next;
        for (int i = 0; i < expression.length(); i = next) {
            next = next(expression, i);
            String part = expression.substring(i, next);
            char last = part.charAt(part.length() - 1);
            boolean escaped = part.length() == 2 && part.startsWith("\\");
            if (name.find(i) && name.start() == i) {
                next = name.end();
                out.append(name.group());
            } else if (part.startsWith("[")) {
                if (!part.startsWith("[^")
                        && ENCODED.matcher(part.substring(1, part.length() - 1).replaceAll("\\\\[\\w./+-]", ""))
                                .find()) {
                    return null;
                }
                out.append(part);
            } else if (characters.indexOf(last) >= 0 && (escaped || "/\"<>`%".indexOf(last) >= 0)) {
                boolean isFirstSlash = last == '/' && out.toString().endsWith("^");
                out.append(isFirstSlash ? part : String.format(Locale.ROOT, "(?:%s|%%%02X)", part, (int) last));
            } else {
                out.append(part);
            }
        }
        return out.toString();
    }

    private static String flag(String expression) {
        return expression.startsWith("(?i)") ? "(?i)" : "";
    }

    private static String withoutFlag(String expression) {
        return expression.substring(flag(expression).length());
    }

    private static boolean endsWithAnchor(String expression) {
        int escapes = 0;
        for (int i = expression.length() - 2; i >= 0 && expression.charAt(i) == '\\'; i--) {
            escapes++;
        }
        return expression.endsWith("$") && escapes % 2 == 0;
    }

    /** Returns the alternatives that are outside of groups. */
    public static List<String> alternatives(String expression) {
        List<String> all = new ArrayList<>();
        int depth = 0;
        int from = 0;
        for (int i = 0; i < expression.length(); i = next(expression, i)) {
            char c = expression.charAt(i);
            depth += c == '(' ? 1 : c == ')' ? -1 : 0;
            if (c == '|' && depth == 0) {
                all.add(expression.substring(from, i));
                from = i + 1;
            }
        }
        all.add(expression.substring(from));
        return List.copyOf(all);
    }

    /** Returns true if an expression has an anchor outside of character classes. */
    private static boolean hasAnchor(String expression) {
        for (int i = 0; i < expression.length(); i = next(expression, i)) {
            if (expression.charAt(i) == '^' || expression.charAt(i) == '$') {
                return true;
            }
        }
        return false;
    }

    /** Replaces the parts that match any character by parts that match no question mark. */
    private static String withoutQuery(String expression) {
        StringBuilder out = new StringBuilder();
        int next;
        for (int i = 0; i < expression.length(); i = next) {
            next = next(expression, i);
            String part = expression.substring(i, next);
            out.append(
                    part.equals(".")
                            ? "[^?]"
                            : part.startsWith("[^") && part.length() > 2 ? "[^?" + part.substring(2) : part);
        }
        return out.toString();
    }

    /** Returns the index after a character, an escape sequence or a character class of an expression. */
    public static int next(String expression, int at) {
        char c = expression.charAt(at);
        if (c == '\\') {
            return Math.min(at + 2, expression.length());
        }
        if (c != '[') {
            return at + 1;
        }
        int i = at + 1;
        i += i < expression.length() && expression.charAt(i) == '^' ? 1 : 0;
        i += i < expression.length() && expression.charAt(i) == ']' ? 1 : 0;
        while (i < expression.length() && expression.charAt(i) != ']') {
            boolean named = expression.startsWith("[:", i) && expression.indexOf(":]", i) > 0;
            i = named ? expression.indexOf(":]", i) + 2 : i + (expression.charAt(i) == '\\' ? 2 : 1);
        }
        return Math.min(i + 1, expression.length());
    }
}
