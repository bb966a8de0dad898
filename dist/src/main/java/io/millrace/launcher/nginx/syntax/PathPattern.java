package io.millrace.launcher.nginx.syntax;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The paths that match a simple expression, such as {@code ^/(img|css)/}. Immutable.
 *
 * @param prefixes the matching paths, or prefixes of the matching paths
 * @param end which longer paths match too
 */
public record PathPattern(List<String> prefixes, End end) {
    /** The end of an expression. */
    public enum End {
        /** All longer paths match. */
        ANY,
        /** A longer path matches if a slash follows the prefix. */
        SLASH,
        /** No longer path matches. */
        EXACT
    }

    /** Limit of paths of one expression. */
    private static final int PREFIXES_MAX = 100;

    /** Copies the paths. */
    public PathPattern {
        prefixes = List.copyOf(prefixes);
    }

    /** Returns the paths of an expression; null if it cannot be written as paths. */
    @Nullable
    public static PathPattern of(String expression) {
        if (!expression.startsWith("^/")) {
            return null;
        }
        String text = expression.substring(1);
        List<StringBuilder> partialPaths = new ArrayList<>(List.of(new StringBuilder()));
        int i = 0;
        while (i < text.length()) {
            String rest = text.substring(i);
            if (List.of(".*", "(.*)", ".*$", "(.*)$", ".+", "(.+)", "(.+)$").contains(rest)) {
                return new PathPattern(texts(partialPaths), End.ANY);
            }
            if (List.of("(/.*)?$", "(?:/.*)?$", "(/|$)", "(?:/|$)", "($|/)", "(?:$|/)")
                    .contains(rest)) {
                return new PathPattern(texts(partialPaths), End.SLASH);
            }
            if (rest.equals("$") || rest.equals("/?$")) {
                return new PathPattern(texts(partialPaths), End.EXACT);
            }
            char c = text.charAt(i);
            if (c == '(') {
                int end = text.indexOf(')', i);
                List<String> words = end < 0 ? null : words(text.substring(i + 1, end));
                if (words == null || partialPaths.size() * words.size() > PREFIXES_MAX) {
                    return null;
                }
                partialPaths = product(partialPaths, words);
                i = end + 1;
            } else if (c == '\\' && i + 1 < text.length() && "./-_+".indexOf(text.charAt(i + 1)) >= 0) {
                char next = text.charAt(i + 1);
                partialPaths.forEach(each -> each.append(next));
                i += 2;
            } else if (isLiteral(c)) {
                partialPaths.forEach(each -> each.append(c));
                i++;
            } else {
                return null;
            }
            if (i < text.length() && "?*+{".indexOf(text.charAt(i)) >= 0) {
                return null;
            }
        }
        return new PathPattern(texts(partialPaths), End.ANY);
    }

    private static boolean isLiteral(char c) {
        return Character.isLetterOrDigit(c) || c == '/' || c == '-' || c == '_' || c == '~';
    }

    private static @Nullable List<String> words(String group) {
        String inner = group.startsWith("?:") ? group.substring(2) : group;
        List<String> words = new ArrayList<>();
        for (String word : inner.split("\\|", -1)) {
            String plain = word.replaceAll("\\\\([./_-])", "$1");
            if (plain.isEmpty() || !word.replaceAll("\\\\[./_-]", "").chars().allMatch(c -> isLiteral((char) c))) {
                return null;
            }
            words.add(plain);
        }
        return words;
    }

    private static List<StringBuilder> product(List<StringBuilder> partialPaths, List<String> words) {
        List<StringBuilder> all = new ArrayList<>();
        for (StringBuilder each : partialPaths) {
            for (String word : words) {
                all.add(new StringBuilder(each).append(word));
            }
        }
        return all;
    }

    private static List<String> texts(List<StringBuilder> partialPaths) {
        return partialPaths.stream().map(StringBuilder::toString).toList();
    }
}
