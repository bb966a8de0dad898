package io.millrace.launcher.nginx.request;

import io.millrace.launcher.importing.draft.RuleTexts;
import io.millrace.launcher.importing.source.Addresses;
import io.millrace.launcher.nginx.syntax.Directive;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Parses the conditions of {@code if} directives. Stateless. */
public final class Conditions {
    private static final Pattern METHODS = Pattern.compile("\\^?\\(?([A-Z|]+)\\)?\\$?");

    /**
     * A condition. Immutable.
     *
     * @param variable name without the dollar sign
     * @param operator {@code =}, {@code !=}, {@code ~} and so on; empty if the variable alone is tested
     */
    public record Condition(String variable, String operator, String value) {}

    private Conditions() {}

    /** Returns the condition of a directive {@code if}; null if it is not about a variable. */
    @Nullable
    public static Condition of(Directive directive) {
        String text = directive.text().strip();
        if (!text.startsWith("(") || !text.endsWith(")")) {
            return null;
        }
        String inner = text.substring(1, text.length() - 1).strip();
        Matcher matcher =
                Pattern.compile("\\$\\{?(\\w+)}?(?:\\s*(!?=|!?~\\*?)\\s*(.*))?").matcher(inner);
        if (!matcher.matches()) {
            return null;
        }
        String value = matcher.group(3) == null ? "" : matcher.group(3).strip();
        if (value.length() > 1 && (value.startsWith("\"") || value.startsWith("'"))) {
            value = value.substring(1, value.length() - 1);
        }
        return new Condition(matcher.group(1), matcher.group(2) == null ? "" : matcher.group(2), value);
    }

    /**
     * Returns the condition of a line of a {@code map} block. nginx ignores the case of names without {@code ~}.
     *
     * @param variable name without the dollar sign
     * @param name the text with which the variable is compared, or an expression with {@code ~} or {@code ~*} before it
     */
    public static Condition ofMapLine(String variable, String name) {
        if (name.startsWith("~")) {
            String operator = name.startsWith("~*") ? "~*" : "~";
            return new Condition(variable, operator, name.substring(operator.length()));
        }
        String text = name.startsWith("\\") ? name.substring(1) : name;
        String address = variable.equals("remote_addr") ? Addresses.text(text) : null;
        if (address != null && address.equalsIgnoreCase(text)) {
            return new Condition(variable, "=", address);
        }
        boolean hasLetters = !text.toLowerCase(Locale.ROOT).equals(text.toUpperCase(Locale.ROOT));
        return hasLetters
                ? new Condition(variable, "~*", "^" + RuleTexts.quoted(text) + "$")
                : new Condition(variable, "=", text);
    }

    /**
     * Returns a test for the hosts that meet a condition, in lower case. A regular expression must be a literal text,
     * with or without {@code ^} and {@code $}. Returns null if the condition does not test the host, or if its
     * expression is not a literal text.
     */
    @Nullable
    public static Predicate<String> hosts(Directive directive) {
        Condition condition = of(directive);
        if (condition == null || !List.of("host", "http_host").contains(condition.variable)) {
            return null;
        }
        String value = condition.value.toLowerCase(Locale.ROOT);
        if (condition.operator.equals("=")) {
            return value::equals;
        }
        if (!condition.operator.startsWith("~")) {
            return null;
        }
        boolean isAtStart = value.startsWith("^");
        boolean isAtEnd = value.endsWith("$");
        String text = value.replaceAll("^\\^|\\$$", "").replace("\\.", ".");
        if (!text.matches("[a-z0-9.-]+")) {
            return null;
        }
        if (isAtStart && isAtEnd) {
            return text::equals;
        }
        if (isAtStart) {
            return host -> host.startsWith(text);
        }
        return isAtEnd ? host -> host.endsWith(text) : host -> host.contains(text);
    }

    /** Returns true if the condition requires a connection without TLS. */
    public static boolean isPlain(Directive directive) {
        Condition condition = of(directive);
        if (condition == null) {
            return false;
        }
        boolean equal = condition.operator.equals("=");
        boolean differs = condition.operator.equals("!=");
        return switch (condition.variable) {
            case "scheme" -> (equal && condition.value.equals("http")) || (differs && condition.value.equals("https"));
            case "https" -> (equal && !condition.value.equals("on")) || (differs && condition.value.equals("on"));
            case "ssl_protocol" -> equal && condition.value.isEmpty();
            case "server_port" -> equal && condition.value.equals("80");
            default -> false;
        };
    }

    /**
     * Returns the methods in an expression such as {@code ^(GET|HEAD)$}. Returns null if the expression is not such a
     * list.
     */
    @Nullable
    public static List<String> methods(String expression) {
        Matcher matcher = METHODS.matcher(expression);
        if (!matcher.matches()) {
            return null;
        }
        List<String> methods = new ArrayList<>(List.of(matcher.group(1).split("\\|", -1)));
        methods.removeIf(String::isEmpty);
        return methods.isEmpty() ? null : methods;
    }

    /** Returns the permitted methods, if the block of a condition refuses all other methods. Returns null otherwise. */
    @Nullable
    public static List<String> permittedMethods(Directive directive) {
        Condition condition = of(directive);
        if (condition == null || !refuses(directive) || !condition.variable.equals("request_method")) {
            return null;
        }
        return condition.operator.startsWith("!") ? methods(condition.value) : null;
    }

    /** Returns true if the block of a condition refuses requests: it answers with a status from 400 to 499. */
    public static boolean refuses(Directive directive) {
        return directive.children("return").stream()
                .anyMatch(each -> each.arg(0).matches("4\\d\\d"));
    }
}
