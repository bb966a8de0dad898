package io.millrace.launcher.ats.rewrite;

import io.millrace.proxy.expression.Expression;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Translates a condition of {@code header_rewrite} to a Millrace expression. Stateless. */
final class RewriteCondition {
    /** The result for a condition that is always true. Expressions have no such constant, so callers omit it. */
    static final String ALWAYS = "true";

    /** Thrown for a condition without an equivalent. The message is the reason. */
    static final class UnknownConditionException extends Exception {
        UnknownConditionException(String reason) {
            super(reason, null, false, false);
        }

        String reason() {
            return String.valueOf(getMessage());
        }
    }

    private static final Set<String> URLS = Set.of("CLIENT-URL", "URL", "FROM-URL");
    private static final String SPECIAL = "\\.[]{}()*+?^$|";

    private RewriteCondition() {}

    /**
     * Translates a single condition.
     *
     * @param name the text between the braces, such as {@code CLIENT-HEADER:X-Foo}
     * @param operand such as {@code =GET} or {@code /^a/}; empty for none
     * @param flags flags in capitals
     */
    static String of(RewriteHook hook, String name, String operand, Set<String> flags)
            throws UnknownConditionException {
        String text = withoutNegation(hook, name, operand, flags);
        if (!flags.contains("NOT")) {
            return text;
        }
        if (text.equals(ALWAYS)) {
            throw new UnknownConditionException("the condition never holds");
        }
        return "!(" + text + ")";
    }

    private static String withoutNegation(RewriteHook hook, String name, String operand, Set<String> flags)
            throws UnknownConditionException {
        int colon = name.indexOf(':');
        String kind = (colon < 0 ? name : name.substring(0, colon)).toUpperCase(Locale.ROOT);
        String part = colon < 0 ? "" : name.substring(colon + 1);
        if (kind.equals("TRUE")) {
            return ALWAYS;
        }
        if (URLS.contains(kind)) {
            return url(part.toUpperCase(Locale.ROOT), operand, flags);
        }
        return switch (kind) {
            case "METHOD" -> text("method", operand, flags);
            case "STATUS" -> number("status", operand);
            case "CLIENT-HEADER" -> text("request_header[" + Expression.literal(part) + "]", operand, flags);
            case "HEADER" ->
                text(
                        (hook.isOnRequest() ? "request_header[" : "response_header[") + Expression.literal(part) + "]",
                        operand,
                        flags);
            case "COOKIE" -> text("cookie[" + Expression.literal(part) + "]", operand, flags);
            case "IP" -> address(part, operand);
            case "GEO" -> location(part.toUpperCase(Locale.ROOT), operand, flags);
            case "CACHE" -> cache(operand);
            case "RANDOM" -> random(part, operand);
            default -> throw new UnknownConditionException("the condition %{" + name + "} has no equivalent");
        };
    }

    private static String url(String part, String operand, Set<String> flags) throws UnknownConditionException {
        return switch (part) {
            case "HOST" -> text("host", operand.toLowerCase(Locale.ROOT), flags);
            case "SCHEME" -> text("scheme", operand, flags);
            case "QUERY" -> text("query", operand, flags);
            case "PORT" -> number("port", operand);
            case "PATH" -> text("path", withSlash(operand, flags), flags);
            default -> throw new UnknownConditionException("the part " + part + " of a URL has no equivalent");
        };
    }

    /** Adds the slash at the start of a path: paths in Traffic Server have none. */
    private static String withSlash(String operand, Set<String> flags) {
        if (operand.startsWith("=")) {
            boolean fromStart = !flags.contains("SUF") && !flags.contains("MID") && !flags.contains("EXT");
            return fromStart && !operand.startsWith("=/") ? "=/" + operand.substring(1) : operand;
        }
        return operand.startsWith("/^") && !operand.startsWith("/^/") && !operand.startsWith("/^\\/")
                ? "/^/" + operand.substring(2)
                : operand;
    }

    private static String text(String field, String operand, Set<String> flags) throws UnknownConditionException {
        String fold = flags.contains("NOCASE") ? "(?i)" : "";
        if (operand.isEmpty()) {
            return field + " =~ \".\"";
        }
        if (operand.length() >= 2 && operand.startsWith("/") && operand.endsWith("/")) {
            String regex = operand.substring(1, operand.length() - 1).replace("\\/", "/");
            return field + " =~ " + Expression.literal(fold + regex);
        }
        if (operand.startsWith("(") && operand.endsWith(")")) {
            return set(field, operand, flags, fold);
        }
        if (!operand.startsWith("=")) {
            throw new UnknownConditionException("the comparison " + operand + " of texts has no equivalent");
        }
        String value = operand.substring(1);
        if (value.isEmpty()) {
            return "!(" + field + " =~ \".\")";
        }
        if (flags.contains("PRE")) {
            return field + " =~ " + Expression.literal(fold + "^" + escaped(value));
        }
        if (flags.contains("SUF") || flags.contains("EXT")) {
            String dot = flags.contains("EXT") ? "\\." : "";
            return field + " =~ " + Expression.literal(fold + dot + escaped(value) + "$");
        }
        if (flags.contains("MID")) {
            return field + " =~ " + Expression.literal(fold + escaped(value));
        }
        return fold.isEmpty()
                ? field + " == " + Expression.literal(value)
                : field + " =~ " + Expression.literal("(?i)^" + escaped(value) + "$");
    }

    private static String set(String field, String operand, Set<String> flags, String fold)
            throws UnknownConditionException {
        List<String> literals = new ArrayList<>();
        List<String> choices = new ArrayList<>();
        for (String value : operand.substring(1, operand.length() - 1).split(",", -1)) {
            literals.add(Expression.literal(value.strip()));
            choices.add(escaped(value.strip()));
        }
        if (!fold.isEmpty() || flags.contains("PRE") || flags.contains("SUF") || flags.contains("MID")) {
            String start = flags.contains("SUF") || flags.contains("MID") ? "" : "^";
            String end = flags.contains("PRE") || flags.contains("MID") ? "" : "$";
            return field + " =~ " + Expression.literal(fold + start + "(?:" + String.join("|", choices) + ")" + end);
        }
        if (flags.contains("EXT")) {
            throw new UnknownConditionException("a set of extensions has no equivalent");
        }
        return field + " in (" + String.join(", ", literals) + ")";
    }

    private static String escaped(String text) {
        StringBuilder escaped = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (SPECIAL.indexOf(c) >= 0) {
                escaped.append('\\');
            }
            escaped.append(c);
        }
        return escaped.toString();
    }

    private static String number(String field, String operand) throws UnknownConditionException {
        if (operand.matches("\\(\\s*\\d+(\\s*,\\s*\\d+)*\\s*\\)")) {
            return field + " in " + operand;
        }
        if (!operand.matches("[=<>]\\d+")) {
            throw new UnknownConditionException("the comparison " + operand + " of numbers has no equivalent");
        }
        String operator = operand.startsWith("=") ? "==" : operand.substring(0, 1);
        return field + " " + operator + " " + operand.substring(1);
    }

    private static String address(String part, String operand) throws UnknownConditionException {
        if (!part.equalsIgnoreCase("CLIENT")) {
            throw new UnknownConditionException("the address " + part + " has no equivalent");
        }
        List<String> ranges = new ArrayList<>();
        if (operand.startsWith("{") && operand.endsWith("}")) {
            for (String range : operand.substring(1, operand.length() - 1).split(",", -1)) {
                ranges.add(Expression.literal(range.strip()));
            }
        } else if (operand.startsWith("=")) {
            ranges.add(Expression.literal(operand.substring(1)));
        } else {
            throw new UnknownConditionException("the comparison " + operand + " of addresses has no equivalent");
        }
        return "client in (" + String.join(", ", ranges) + ")";
    }

    private static String location(String part, String operand, Set<String> flags) throws UnknownConditionException {
        String unquoted = operand.replace("\"", "");
        return switch (part) {
            case "COUNTRY" -> text("country", unquoted, flags);
            case "ASN" -> number("asn", unquoted);
            default -> throw new UnknownConditionException("%{GEO:" + part + "} has no equivalent");
        };
    }

    private static String cache(String operand) throws UnknownConditionException {
        return switch (operand.startsWith("=") ? operand.substring(1) : "") {
            case "hit-fresh" -> "cache == \"hit\"";
            case "hit-stale" -> "cache in (\"stale\", \"revalidated\", \"stale-miss\")";
            case "miss" -> "cache in (\"uri-miss\", \"vary-miss\", \"partial\", \"request\")";
            case "skipped" -> "cache in (\"bypass\", \"method\")";
            default -> throw new UnknownConditionException("the cache result " + operand + " has no equivalent");
        };
    }

    private static String random(String part, String operand) throws UnknownConditionException {
        if (!part.equals("100")) {
            throw new UnknownConditionException("%{RANDOM:" + part + "} has no equivalent; %{RANDOM:100} has one");
        }
        return number("random", operand);
    }

    /**
     * Combines conditions as {@code header_rewrite} does: it groups from the right, without precedence. For example,
     * {@code a AND b OR c} is {@code a AND (b OR c)}.
     *
     * @param alternatives for each condition, true if OR follows, false if AND follows
     * @return the expression; null if there are no conditions
     */
    static @Nullable String join(List<String> conditions, List<Boolean> alternatives) {
        String all = null;
        for (int i = conditions.size() - 1; i >= 0; i--) {
            String one = conditions.get(i);
            if (all == null) {
                all = one;
            } else if (alternatives.get(i)) {
                all = one.equals(ALWAYS) || all.equals(ALWAYS)
                        ? ALWAYS
                        : parenthesized(one) + " || " + parenthesized(all);
            } else if (!one.equals(ALWAYS)) {
                all = all.equals(ALWAYS) ? one : parenthesized(one) + " && " + parenthesized(all);
            }
        }
        return all;
    }

    /** Returns the text in parentheses if it has an operator between conditions. */
    static String parenthesized(String text) {
        return text.contains(" && ") || text.contains(" || ") ? "(" + text + ")" : text;
    }
}
