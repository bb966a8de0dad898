package io.millrace.proxy.config.key;

import com.google.re2j.PatternSyntaxException;
import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.config.value.Regex;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Reads lists of web origins (RFC 6454), as browsers write them in the field Origin. Stateless. */
public final class WebOrigin {
    /** Stands for all origins. */
    public static final String ANY = "*";

    /** The origin of documents without one, such as local files. */
    public static final String NULL = "null";

    /** Begins a regular expression that matches a whole origin. */
    public static final char EXPRESSION = '~';

    /** Limit of elements of a list. */
    public static final int COUNT_MAX = 100;

    private WebOrigin() {}

    /**
     * Reads a list of origins and expressions, separated by spaces.
     *
     * @throws InvalidValueException if an element is neither an origin nor an expression, or if there are too many
     */
    public static List<String> read(String text) throws InvalidValueException {
        List<String> origins = new ArrayList<>();
        for (String each : text.trim().split("\\s+", -1)) {
            check(each);
            origins.add(each);
        }
        if (origins.contains(ANY) && origins.size() > 1) {
            throw new InvalidValueException("* stands for all origins; remove the others, or *");
        }
        if (origins.size() > COUNT_MAX) {
            throw new InvalidValueException(origins.size() + " origins are above the limit of " + COUNT_MAX);
        }
        return List.copyOf(origins);
    }

    private static void check(String each) throws InvalidValueException {
        if (each.equals(ANY) || each.equals(NULL)) {
            return;
        }
        if (!each.isEmpty() && each.charAt(0) == EXPRESSION) {
            try {
                Regex.compile(each.substring(1));
            } catch (PatternSyntaxException e) {
                throw new InvalidValueException(
                        "'" + Regex.shown(each) + "' is not a regular expression: " + e.getDescription());
            }
            return;
        }
        int scheme = each.indexOf("://");
        String authority = scheme < 0 ? "" : each.substring(scheme + 3);
        if (scheme <= 0 || authority.isEmpty()) {
            throw new InvalidValueException("'" + each + "' is not an origin, such as https://www.example.com");
        }
        int end = indexOfAny(authority, "/?#@");
        if (end >= 0) {
            throw new InvalidValueException(
                    "'" + each + "' has more than scheme, host and port", each.substring(0, scheme + 3 + end));
        }
        if (authority.indexOf('*') >= 0) {
            throw new InvalidValueException(
                    "'" + each + "' contains *; use an expression, such as " + "~https://[a-z0-9-]+\\.example\\.com");
        }
        String lower = each.toLowerCase(Locale.ROOT);
        if (!lower.equals(each)) {
            throw new InvalidValueException("'" + each + "' has capital letters, which browsers do not send", lower);
        }
        String defaultPort = each.startsWith("https:") ? ":443" : each.startsWith("http:") ? ":80" : null;
        if (defaultPort != null && each.endsWith(defaultPort)) {
            throw new InvalidValueException(
                    "'" + each + "' has the default port, which browsers leave out",
                    each.substring(0, each.length() - defaultPort.length()));
        }
        if (!each.chars().allMatch(c -> c > ' ' && c <= '~')) {
            throw new InvalidValueException("'" + each + "' has a character other than visible ASCII characters");
        }
    }

    private static int indexOfAny(String text, String characters) {
        for (int i = 0; i < text.length(); i++) {
            if (characters.indexOf(text.charAt(i)) >= 0) {
                return i;
            }
        }
        return -1;
    }
}
