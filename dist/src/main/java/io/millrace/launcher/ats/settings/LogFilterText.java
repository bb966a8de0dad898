package io.millrace.launcher.ats.settings;

import io.millrace.launcher.ats.source.RecordTable;
import io.millrace.proxy.expression.Expression;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Converts log filters of Traffic Server, such as {@code pssc MATCH 304}, to Millrace expressions. Stateless. */
final class LogFilterText {
    /** Thrown for a filter without an equivalent; the message states the reason. */
    static final class NoEquivalentException extends Exception {
        private static final long serialVersionUID = 1L;

        NoEquivalentException(String reason) {
            super(reason, null, false, false);
        }
    }

    /** Traffic Server's codes of log fields with texts, and the corresponding fields of expressions. */
    private static final Map<String, String> TEXTS = Map.ofEntries(
            Map.entry("chi", "client"),
            Map.entry("cqhm", "method"),
            Map.entry("cquuc", "url"),
            Map.entry("cquc", "url"),
            Map.entry("cqu", "url"),
            Map.entry("pquc", "url"),
            Map.entry("pqu", "url"),
            Map.entry("cquup", "target"),
            Map.entry("cqup", "target"),
            Map.entry("pqup", "target"),
            Map.entry("cquuh", "host"),
            Map.entry("cqus", "scheme"),
            Map.entry("pqus", "scheme"),
            Map.entry("crc", "result"),
            Map.entry("cqpv", "protocol"),
            Map.entry("sshv", "origin_protocol"),
            Map.entry("shn", "origin"),
            Map.entry("psct", "type"),
            Map.entry("cqssv", "tls"),
            Map.entry("cssn", "sni"),
            Map.entry("{Referer}cqh", "referer"),
            Map.entry("{User-Agent}cqh", "user_agent"));

    /** Traffic Server's codes of log fields with numbers, and the corresponding fields of expressions. */
    private static final Map<String, String> NUMBERS = Map.of(
            "pssc", "status",
            "sssc", "origin_status",
            "psql", "bytes",
            "pscl", "body_bytes",
            "ttms", "duration",
            "tts", "duration");

    /** Fields whose values are in lower case in expressions. */
    private static final List<String> LOWER_CASE = List.of("host", "scheme", "origin", "type", "sni");

    private LogFilterText() {}

    /**
     * Returns the expression for a filter. A request is logged if the expression is true.
     *
     * @param action {@code accept} or {@code reject}
     * @param condition field, operator and value
     * @throws NoEquivalentException if the filter has no equivalent
     */
    static String of(String action, String condition) throws NoEquivalentException {
        String[] parts = condition.strip().split("\\s+", 3);
        if (parts.length < 3) {
            throw new NoEquivalentException("the condition is not FIELD OPERATOR VALUE");
        }
        String field = parts[0].replaceFirst("^%<(.*)>$", "$1");
        String comparison = NUMBERS.containsKey(field)
                ? number(field, parts[1].toUpperCase(Locale.ROOT), parts[2])
                : text(field, parts[1].toUpperCase(Locale.ROOT), parts[2]);
        return switch (action.toLowerCase(Locale.ROOT)) {
            case "accept", "" -> comparison;
            case "reject" -> "!(" + comparison + ")";
            default ->
                throw new NoEquivalentException(
                        "the action " + action + " has no equivalent; the log contains the unchanged field values");
        };
    }

    private static String text(String field, String operator, String value) throws NoEquivalentException {
        String name = TEXTS.get(field);
        if (name == null) {
            throw new NoEquivalentException(
                    "expressions have no field for " + field + "; see docs/reference/expressions.md");
        }
        if (field.equals("chi") && !value.matches("[0-9A-Fa-f:., ]+")) {
            throw new NoEquivalentException(
                    "the field 'client' can be compared only with single addresses, not with ranges");
        }
        List<String> alternatives = new ArrayList<>();
        for (String one : RecordTable.split(value)) {
            alternatives.add(comparison(name, operator, one));
        }
        if (alternatives.isEmpty()) {
            throw new NoEquivalentException("the condition has no value");
        }
        return String.join(" || ", alternatives);
    }

    private static String comparison(String name, String operator, String value) throws NoEquivalentException {
        boolean ignoresCase = operator.startsWith("CASE_INSENSITIVE_");
        boolean isLowerCase = LOWER_CASE.contains(name);
        String quoted = (ignoresCase ? "(?i)" : "") + quote(isLowerCase ? value.toLowerCase(Locale.ROOT) : value);
        return switch (operator) {
            case "MATCH" -> name + " == " + Expression.literal(value);
            case "CASE_INSENSITIVE_MATCH" ->
                name + " =~ " + Expression.literal("(?i)^" + quoted.substring("(?i)".length()) + "$");
            case "CONTAIN", "CASE_INSENSITIVE_CONTAIN" -> name + " =~ " + Expression.literal(quoted);
            default -> throw new NoEquivalentException("the operator " + operator + " is not for texts");
        };
    }

    /** Escapes the characters that have a meaning in regular expressions. */
    private static String quote(String text) {
        StringBuilder quoted = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            quoted.append("\\.+*?()|[]{}^$".indexOf(c) >= 0 ? "\\" : "").append(c);
        }
        return quoted.toString();
    }

    private static String number(String field, String operator, String value) throws NoEquivalentException {
        List<String> alternatives = new ArrayList<>();
        for (String one : RecordTable.split(value)) {
            if (!one.matches("\\d{1,12}")) {
                throw new NoEquivalentException("'" + one + "' is not a number");
            }
            alternatives.add(number(field, operator, Long.parseLong(one)));
        }
        if (alternatives.isEmpty() || (alternatives.size() > 1 && !operator.equals("MATCH"))) {
            throw new NoEquivalentException("the operator " + operator + " needs one number");
        }
        return String.join(" || ", alternatives);
    }

    /**
     * Returns a comparison with a number. Traffic Server ignores fractions of time units, so all bounds are whole
     * numbers.
     */
    private static String number(String field, String operator, long value) throws NoEquivalentException {
        String name = NUMBERS.get(field);
        String unit =
                switch (field) {
                    case "ttms" -> "ms";
                    case "tts" -> "s";
                    case "psql", "pscl" -> "B";
                    default -> "";
                };
        boolean hasFraction = name != null && name.equals("duration");
        return switch (operator) {
            case "MATCH" ->
                hasFraction
                        ? "(duration >= " + value + unit + " && duration < " + (value + 1) + unit + ")"
                        : name + " == " + value + unit;
            case "LT" -> name + " < " + value + unit;
            case "LTE" -> name + " < " + (value + 1) + unit;
            case "GT" -> name + " >= " + (value + 1) + unit;
            case "GTE" -> name + " >= " + value + unit;
            default -> throw new NoEquivalentException("the operator " + operator + " is not for numbers");
        };
    }
}
