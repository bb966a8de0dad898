package io.millrace.proxy.config.value;

import com.google.re2j.PatternSyntaxException;
import java.util.ArrayList;
import java.util.List;

/**
 * The Referer conditions of a rule: which pages may link to the URLs that it matches. Immutable.
 *
 * @param expressions regular expressions as configured, each optionally negated by a {@code ~} before it; also {@code
 *     *} and {@code ~*}
 * @param redirect URL or path to which requests with another Referer are redirected, with codes such as {@code %r}
 */
public record RefererConfig(List<String> expressions, String redirect) {
    /** Allows every Referer that no expression matches. */
    public static final String ANY = "*";

    /** Allows requests without Referer. */
    public static final String OPTIONAL = "~*";

    /** Limit of expressions, as in Traffic Server. */
    private static final int EXPRESSIONS_MAX = 2048;

    private static final String CODES = "rfto";

    /** Parses expressions that are separated by white space. */
    public static List<String> read(String text) throws InvalidValueException {
        List<String> expressions = new ArrayList<>();
        boolean any = false;
        for (String each : text.trim().split("\\s+", -1)) {
            if (!each.equals(ANY) && !each.equals(OPTIONAL)) {
                check(each.startsWith("~") ? each.substring(1) : each);
            }
            any |= !each.equals(OPTIONAL);
            expressions.add(each);
        }
        if (!any) {
            throw new InvalidValueException(
                    "'" + text + "' permits only requests without Referer; add an expression, or use map");
        }
        if (expressions.size() > EXPRESSIONS_MAX) {
            throw new InvalidValueException(
                    expressions.size() + " expressions are above the limit of " + EXPRESSIONS_MAX);
        }
        return List.copyOf(expressions);
    }

    private static void check(String expression) throws InvalidValueException {
        try {
            if (expression.isEmpty()) {
                throw new InvalidValueException("an expression is empty");
            }
            Regex.compile(expression);
        } catch (PatternSyntaxException e) {
            throw new InvalidValueException(
                    "'" + Regex.shown(expression) + "' is not a regular expression: " + e.getDescription());
        }
    }

    /** Parses a URL or a path. A percent sign begins a code or an encoding of two hexadecimal digits. */
    public static String readRedirect(String text) throws InvalidValueException {
        if (!text.startsWith("http://") && !text.startsWith("https://") && !text.startsWith("/")) {
            throw new InvalidValueException("'" + text + "' is neither a URL such as http://host/path nor a path");
        }
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c <= ' ' || c >= 127) {
                throw new InvalidValueException("'" + text + "' contains a character that a URL must percent-encode");
            }
            if (c == '%' && !isCode(text, i) && !isEncoding(text, i)) {
                throw new InvalidValueException(
                        "'" + text + "' has a % that begins no code (%r, %f, %t, %o) and no percent-encoding", "%25");
            }
        }
        return text;
    }

    /**
     * Returns true if a code begins at an index. {@code %f} followed by a hexadecimal digit is an encoding, not a code.
     */
    public static boolean isCode(String text, int i) {
        return text.charAt(i) == '%'
                && i + 1 < text.length()
                && CODES.indexOf(text.charAt(i + 1)) >= 0
                && !isEncoding(text, i);
    }

    private static boolean isEncoding(String text, int i) {
        return i + 2 < text.length()
                && Character.digit(text.charAt(i + 1), 16) >= 0
                && Character.digit(text.charAt(i + 2), 16) >= 0;
    }
}
