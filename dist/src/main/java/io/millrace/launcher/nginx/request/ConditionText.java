package io.millrace.launcher.nginx.request;

import io.millrace.launcher.importing.draft.RuleTexts;
import io.millrace.launcher.importing.draft.UrlExpressions;
import io.millrace.launcher.importing.source.Addresses;
import io.millrace.launcher.nginx.syntax.Directive;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;

/** Converts conditions of nginx to conditions of {@code rules}. Stateless. */
public final class ConditionText {
    /** PCRE syntax that RE2 lacks or reads otherwise: horizontal and vertical space, possessive quantifiers. */
    private static final Pattern NOT_RE2 = Pattern.compile("\\\\[hvHV]|[+*?}]\\+");

    /** Characters that are percent-encoded in the paths that rules compare, while nginx compares decoded paths. */
    private static final Pattern ENCODED = Pattern.compile("[^!-~]|[\"<>`{}|^%\\\\\\[\\]]");

    private static final Set<String> OPERATORS = Set.of("", "=", "!=", "~", "~*", "!~", "!~*");

    private ConditionText() {}

    /** Returns the condition for paths that match an expression. Returns null if RE2 has no equivalent. */
    @Nullable
    public static String path(String expression) {
        String encoded =
                UrlExpressions.ofDecodedPath(expression, UrlExpressions.KEPT_ENCODED + UrlExpressions.ALWAYS_ENCODED);
        String converted = encoded == null ? null : expression(encoded);
        return converted == null ? null : "path =~ " + RuleTexts.literal(converted);
    }

    /** Returns the expression for URLs whose path matches an expression. Returns null if it has no equivalent. */
    @Nullable
    public static String urlOfPath(String expression) {
        String encoded = UrlExpressions.ofDecodedPath(expression, UrlExpressions.ALWAYS_ENCODED);
        String converted = encoded == null ? null : expression(encoded);
        return converted == null ? null : UrlExpressions.ofPath(converted);
    }

    /** Converts an expression to RE2 syntax. Returns null if that is not possible. */
    private static @Nullable String expression(String expression) {
        String converted = expression.replaceAll("\\(\\?<([A-Za-z])", "(?P<$1");
        return NOT_RE2.matcher(expression).find() || !RuleTexts.isRe2(converted) ? null : converted;
    }

    /** Returns the condition of an {@code if} directive. Returns null if it has no equivalent. */
    @Nullable
    public static String of(Directive directive) {
        Conditions.Condition condition = Conditions.of(directive);
        return condition == null ? null : of(condition);
    }

    /** Returns the condition for a test of a variable. Returns null if it has no equivalent. */
    @Nullable
    public static String of(Conditions.Condition condition) {
        String name = condition.variable();
        if (!OPERATORS.contains(condition.operator()) || !name.matches("\\w+")) {
            return null;
        }
        String rest = name.substring(name.indexOf('_') + 1);
        if (name.equals("request_uri")) {
            return requestUri(condition);
        }
        if (name.equals("http_host")) {
            return condition.value().contains(":") ? null : single("host", condition);
        }
        if (name.startsWith("http_")) {
            return optional("request_header[" + RuleTexts.literal(rest.replace('_', '-')) + "]", condition);
        }
        if (name.startsWith("cookie_")) {
            FirstValue value = FirstValue.cookie(rest);
            return value == null ? null : value.when(condition);
        }
        if (name.startsWith("arg_")) {
            FirstValue value = FirstValue.parameter(rest);
            return value == null ? null : value.when(condition);
        }
        return switch (name) {
            case "uri", "document_uri" -> path(condition);
            case "args", "query_string" -> single("query", condition);
            case "is_args" -> isArgs(condition);
            case "request_method" -> single("method", condition);
            case "host" -> single("host", condition);
            case "scheme" -> single("scheme", condition);
            case "remote_addr" -> client(condition);
            default -> null;
        };
    }

    private static @Nullable String path(Conditions.Condition condition) {
        boolean negated = condition.operator().startsWith("!");
        if (!condition.operator().contains("~")) {
            return ENCODED.matcher(condition.value()).find() ? null : single("path", condition);
        }
        String matches = path((condition.operator().endsWith("*") ? "(?i)" : "") + condition.value());
        return matches == null || !negated ? matches : "!(" + matches + ")";
    }

    /** Returns the condition for {@code $is_args}. This variable is a question mark if the query is not empty. */
    private static @Nullable String isArgs(Conditions.Condition condition) {
        String test = condition.operator() + condition.value();
        return switch (test) {
            case "", "=?", "!=", "~\\?", "~*\\?" -> "query != \"\"";
            case "=", "!=?", "!~\\?", "!~*\\?" -> "query == \"\"";
            default -> null;
        };
    }

    /** Returns the condition for a client. nginx compares texts, so only one spelling of an address can be equal. */
    private static @Nullable String client(Conditions.Condition condition) {
        String address = Addresses.text(condition.value());
        if (address == null || !condition.value().equals(address)) {
            return null;
        }
        return switch (condition.operator()) {
            case "=" -> "client == " + RuleTexts.literal(address);
            case "!=" -> "client != " + RuleTexts.literal(address);
            default -> null;
        };
    }

    /** Returns the condition for a property that every request has, possibly with an empty value. */
    private static @Nullable String single(String field, Conditions.Condition condition) {
        if (condition.operator().isEmpty()) {
            return "!(" + field + " in (\"\", \"0\"))";
        }
        return compared(field, condition);
    }

    /** Returns the condition for a property that a request may lack. For nginx, its value is then empty. */
    private static @Nullable String optional(String field, Conditions.Condition condition) {
        String operator = condition.operator();
        String value = condition.value();
        if (operator.isEmpty()) {
            return "(" + field + " =~ \".\" && !(" + field + " == \"0\"))";
        }
        boolean empty = value.isEmpty() || value.equals("^$");
        if (empty && !operator.startsWith("!")) {
            return "!(" + field + " =~ \".\")";
        }
        if (empty) {
            return field + " =~ \".\"";
        }
        String compared = compared(field, condition);
        if (compared == null || !operator.contains("~") || !isFoundInEmpty(value)) {
            return compared;
        }
        // The expression matches empty text, so nginx matches a missing field too. In rules, a missing field matches no
        // expression.
        String missing = "!(" + field + " =~ \"\")";
        return operator.startsWith("!") ? field + " =~ \"\" && " + compared : "(" + missing + " || " + compared + ")";
    }

    private static boolean isFoundInEmpty(String expression) {
        try {
            return Pattern.compile(expression).matcher("").find();
        } catch (PatternSyntaxException e) {
            return false;
        }
    }

    private static @Nullable String compared(String field, Conditions.Condition condition) {
        String operator = condition.operator();
        boolean negated = operator.startsWith("!");
        if (!operator.contains("~")) {
            return field + (negated ? " != " : " == ") + RuleTexts.literal(condition.value());
        }
        String expression = expression((operator.endsWith("*") ? "(?i)" : "") + condition.value());
        if (expression == null) {
            return null;
        }
        String matches = field + " =~ " + RuleTexts.literal(expression);
        return negated ? "!(" + matches + ")" : matches;
    }

    /** Returns the condition for the URL as received, with path and query. */
    private static @Nullable String requestUri(Conditions.Condition condition) {
        String value = condition.value();
        String operator = condition.operator();
        // An expression with an anchor, or one that can match across path and query, cannot be divided in two.
        boolean anchor = value.matches("(.*[^\\[])?\\^.*|(.*[^\\\\])?\\$.*");
        boolean isIndivisible = anchor || value.matches(".*(\\?|\\.[*+]|\\[\\^).*");
        String expression = expression((operator.endsWith("*") ? "(?i)" : "") + value);
        if (!operator.contains("~") || isIndivisible || expression == null) {
            return null;
        }
        String literal = RuleTexts.literal(expression);
        String matches = "(path =~ " + literal + " || query =~ " + literal + ")";
        return operator.startsWith("!") ? "!" + matches : matches;
    }
}
