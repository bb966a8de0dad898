package io.millrace.proxy.config.rules;

import com.google.re2j.Matcher;
import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.config.value.Suggestions;
import io.millrace.proxy.expression.request.RequestFacts;
import io.millrace.proxy.http.UriBytes;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The target of a redirection or rewrite, with placeholders for parts of the client's URL. The client can choose
 * neither the scheme nor, except by {@code $host}, the host of the result. Immutable.
 */
public final class RedirectTarget {
    private static final List<String> NAMES = List.of("host", "path", "query");

    /**
     * A part of the template.
     *
     * @param text a literal text, or the name of a placeholder
     * @param group number of a group, -1 for another placeholder, -2 for a literal text
     */
    private record Part(String text, int group) {
        static final int NAMED = -1;
        static final int LITERAL = -2;
    }

    private final String template;
    private final List<Part> parts;
    private final boolean isPath;

    private RedirectTarget(String template, List<Part> parts) {
        this.template = template;
        this.parts = parts;
        isPath = template.startsWith("/");
    }

    /**
     * Parses the path of a rewrite.
     *
     * @throws InvalidValueException if it is not a path, or if a placeholder is unknown
     */
    public static RedirectTarget parsePath(String template) throws InvalidValueException {
        if (!template.startsWith("/") || template.indexOf('?') >= 0 || template.indexOf('#') >= 0) {
            throw new InvalidValueException(
                    "'" + template + "' is not a path; it must begin with a slash, without ? and #");
        }
        return parseWithout(template, "query");
    }

    /**
     * Parses the query of a rewrite.
     *
     * @throws InvalidValueException if a placeholder is unknown
     */
    public static RedirectTarget parseQuery(String template) throws InvalidValueException {
        return parseWithout(template, "path", "query");
    }

    private static RedirectTarget parseWithout(String template, String... without) throws InvalidValueException {
        RedirectTarget target = new RedirectTarget(template, parts(template));
        for (Part part : target.parts) {
            if (part.group() == Part.NAMED && List.of(without).contains(part.text())) {
                throw new InvalidValueException(
                        "'" + template + "' has $" + part.text() + ", which is only for redirect.to");
            }
        }
        return target;
    }

    /**
     * Parses the target of a redirection: a URL or a path.
     *
     * @throws InvalidValueException if a placeholder is unknown, or if a group could become a part of the host
     */
    public static RedirectTarget parse(String template) throws InvalidValueException {
        boolean isUrl = template.startsWith("http://") || template.startsWith("https://");
        if (!isUrl && (!template.startsWith("/") || template.startsWith("//"))) {
            throw new InvalidValueException(
                    "'" + template + "' is neither a URL nor a path; it must begin with http://, https:// or one slash",
                    template.startsWith("$") ? "/" + template : null);
        }
        RedirectTarget target = new RedirectTarget(template, parts(template));
        if (isUrl) {
            target.checkHost();
        }
        return target;
    }

    private static List<Part> parts(String template) throws InvalidValueException {
        List<Part> parts = new ArrayList<>();
        StringBuilder literal = new StringBuilder();
        for (int i = 0; i < template.length(); i++) {
            char c = template.charAt(i);
            if (c <= ' ' || c > '~') {
                throw new InvalidValueException(
                        "'" + template + "' has a character that URLs cannot have, at position " + (i + 1));
            }
            if (c != '$') {
                literal.append(c);
                continue;
            }
            String name = nameAt(template, i + 1);
            i += name.length();
            if (name.equals("$")) {
                literal.append('$');
                continue;
            }
            if (!literal.isEmpty()) {
                parts.add(new Part(literal.toString(), Part.LITERAL));
                literal.setLength(0);
            }
            parts.add(placeholder(template, name));
        }
        if (!literal.isEmpty()) {
            parts.add(new Part(literal.toString(), Part.LITERAL));
        }
        return List.copyOf(parts);
    }

    private static String nameAt(String template, int from) {
        if (from < template.length() && (template.charAt(from) == '$' || isDigit(template.charAt(from)))) {
            return template.substring(from, from + 1);
        }
        int end = from;
        while (end < template.length() && template.charAt(end) >= 'a' && template.charAt(end) <= 'z') {
            end++;
        }
        return template.substring(from, end);
    }

    private static Part placeholder(String template, String name) throws InvalidValueException {
        if (name.length() == 1 && isDigit(name.charAt(0))) {
            return new Part(name, name.charAt(0) - '0');
        }
        if (!NAMES.contains(name)) {
            String near = Suggestions.closest(name, NAMES);
            throw new InvalidValueException(
                    "'" + template + "' has $" + name + ", which is none of $0 to $9, $host, $path, $query and $$",
                    near == null ? null : "$" + near);
        }
        return new Part(name, Part.NAMED);
    }

    /** Checks that the host ends before a placeholder other than {@code $host}, so that no client can extend it. */
    private void checkHost() throws InvalidValueException {
        boolean afterHost = false;
        for (int i = 0; i < parts.size() && !afterHost; i++) {
            Part part = parts.get(i);
            if (part.group() == Part.LITERAL) {
                String host = i == 0 ? part.text().substring(part.text().indexOf("//") + 2) : part.text();
                afterHost = host.indexOf('/') >= 0 || host.indexOf('?') >= 0;
                if (!afterHost && host.indexOf('@') >= 0) {
                    throw new InvalidValueException("'" + template + "' has a user name");
                }
            } else if (part.group() == Part.NAMED && part.text().equals("path")) {
                afterHost = true;
            } else if (part.group() != Part.NAMED || !part.text().equals("host")) {
                throw new InvalidValueException("'" + template + "' lets clients choose a part of the host by $"
                        + part.text() + "; write a slash after the host");
            }
        }
    }

    /** Returns the highest number of a group; -1 if there is none. */
    public int lastGroup() {
        int last = -1;
        for (Part part : parts) {
            last = Math.max(last, part.group());
        }
        return Math.max(-1, last);
    }

    /**
     * Returns the target for a request. Bytes that URLs cannot have are percent-encoded.
     *
     * @param match the match of the condition's expression; null if the template has no group
     */
    public String expand(RequestFacts facts, @Nullable Matcher match) {
        StringBuilder url = new StringBuilder();
        for (Part part : parts) {
            if (part.group() == Part.LITERAL) {
                url.append(part.text());
            } else if (part.group() >= 0) {
                String group = match == null ? null : match.group(part.group());
                url.append(group == null ? "" : group);
            } else {
                url.append(named(part.text(), facts));
            }
        }
        int start = 0;
        // A path with two slashes, or a backslash, at its start would be a URL with another host.
        while (isPath && start + 1 < url.length() && "/\\".indexOf(url.charAt(start + 1)) >= 0) {
            start++;
        }
        if (start > 0) {
            url.delete(1, start + 1);
        }
        return UriBytes.encoded(url.toString().getBytes(StandardCharsets.ISO_8859_1));
    }

    private static String named(String name, RequestFacts facts) {
        return switch (name) {
            case "host" -> facts.host();
            case "path" -> facts.path().startsWith("/") ? facts.path() : "/";
            default -> facts.query().isEmpty() ? "" : "?" + facts.query();
        };
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    /** Returns the template. */
    @Override
    public String toString() {
        return template;
    }
}
