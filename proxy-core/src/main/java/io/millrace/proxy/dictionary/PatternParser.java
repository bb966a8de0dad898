package io.millrace.proxy.dictionary;

import org.jspecify.annotations.Nullable;

/**
 * Translates one component of a URL pattern, its path or its query, to an expression of RE2 (URL Pattern standard,
 * "parse a pattern string"). Patterns with regular expressions are refused, as RFC 9842 s2.1.1 demands.
 *
 * <p>Confined to one thread.
 */
final class PatternParser {
    private static final String ANYTHING = ".*";

    private final String text;
    /** The character that may belong to a following wildcard; empty for none. */
    private final String prefix;
    /** The expression for the match of a named wildcard. */
    private final String segment;

    private final StringBuilder expression = new StringBuilder();
    /** Literal characters that are not appended to the expression yet. */
    private final StringBuilder fixed = new StringBuilder();
    /** Index of the next character. */
    private int at;

    private int wildcards;
    /** Number of literal characters, as in {@link Translation}. */
    private int length;

    /**
     * An expression of RE2.
     *
     * @param wildcards number of wildcards and of repeated or optional groups; a repeated wildcard or group counts
     *     twice
     * @param length number of literal characters, also of those that a repetition contains twice
     */
    record Translation(String expression, int wildcards, int length) {}

    private PatternParser(String text, String prefix, String segment) {
        this.text = text;
        this.prefix = prefix;
        this.segment = segment;
    }

    /** Returns the expression for a path; null if the pattern is malformed or not supported. */
    static @Nullable Translation path(String pattern) {
        return new PatternParser(pattern, "/", "[^/]+?").translate();
    }

    /** Returns the expression for a query; null if the pattern is malformed or not supported. */
    static @Nullable Translation query(String pattern) {
        return new PatternParser(pattern, "", ".+?").translate();
    }

    /** Returns a pattern that matches only this text. */
    static String escaped(String text) {
        StringBuilder pattern = new StringBuilder(text.length() + 8);
        for (int i = 0; i < text.length(); i++) {
            if ("\\:*{}()?+".indexOf(text.charAt(i)) >= 0) {
                pattern.append('\\');
            }
            pattern.append(text.charAt(i));
        }
        return pattern.toString();
    }

    private @Nullable Translation translate() {
        while (at < text.length()) {
            char next = text.charAt(at);
            boolean understood =
                    switch (next) {
                        case '(', ')', '}', '+', '?' -> false;
                        case '\\' -> escape();
                        case '{' -> group();
                        case '*' -> wildcard();
                        case ':' -> isName(at + 1) ? wildcard() : literal();
                        default -> literal();
                    };
            if (!understood) {
                return null;
            }
        }
        appendFixed();
        return new Translation(expression.toString(), wildcards, length);
    }

    private boolean literal() {
        fixed.append(text.charAt(at++));
        return true;
    }

    private boolean escape() {
        if (at + 1 == text.length()) {
            return false;
        }
        fixed.append(text.charAt(at + 1));
        at += 2;
        return true;
    }

    private boolean wildcard() {
        String matched = matched();
        if (matched == null) {
            return false;
        }
        char modifier = modifier();
        if (modifier == ' ') {
            appendFixed();
            append("", matched, "", modifier);
            return true;
        }
        // The slash before the wildcard is optional or repeated together with it.
        boolean hasPrefix = !prefix.isEmpty() && fixed.length() > 0 && isPrefixBefore();
        if (hasPrefix) {
            fixed.setLength(fixed.length() - 1);
        }
        appendFixed();
        append(hasPrefix ? prefix : "", matched, "", modifier);
        return true;
    }

    private boolean isPrefixBefore() {
        return fixed.charAt(fixed.length() - 1) == prefix.charAt(0);
    }

    /** Reads a group in braces: text, at most one wildcard, text. */
    private boolean group() {
        at++;
        String before = textInGroup();
        String matched = null;
        if (before != null && at < text.length() && (text.charAt(at) == '*' || text.charAt(at) == ':')) {
            matched = matched();
            if (matched == null) {
                return false;
            }
        }
        String after = before == null ? null : textInGroup();
        if (before == null || after == null || at == text.length() || text.charAt(at) != '}') {
            return false;
        }
        at++;
        char modifier = modifier();
        appendFixed();
        append(before, matched, after, modifier);
        return true;
    }

    private @Nullable String textInGroup() {
        StringBuilder inside = new StringBuilder();
        while (at < text.length()) {
            char next = text.charAt(at);
            if (next == '*' || next == '}' || (next == ':' && isName(at + 1))) {
                return inside.toString();
            }
            if (next == '(' || next == ')' || next == '{' || next == '+' || next == '?') {
                return null;
            }
            if (next == '\\') {
                at++;
                if (at == text.length()) {
                    return null;
                }
            }
            inside.append(text.charAt(at++));
        }
        return null;
    }

    /** Reads a wildcard, and returns the expression for its match; null for a regular expression after the name. */
    private @Nullable String matched() {
        if (text.charAt(at++) == '*') {
            return ANYTHING;
        }
        while (isNamePart(at)) {
            at++;
        }
        return at < text.length() && text.charAt(at) == '(' ? null : segment;
    }

    private char modifier() {
        if (at < text.length() && "?+*".indexOf(text.charAt(at)) >= 0) {
            return text.charAt(at++);
        }
        return ' ';
    }

    private boolean isName(int position) {
        return isNamePart(position) && !Character.isDigit(text.charAt(position));
    }

    private boolean isNamePart(int position) {
        return position < text.length() && Character.isJavaIdentifierPart(text.charAt(position));
    }

    private void appendFixed() {
        quote(fixed);
        fixed.setLength(0);
    }

    /** Appends a part with a modifier; a space for none. */
    private void append(String before, @Nullable String matched, String after, char modifier) {
        boolean isRepeated = modifier == '+' || modifier == '*';
        if (matched != null || modifier != ' ') {
            wildcards += isRepeated ? 2 : 1;
        }
        expression.append("(?:");
        quote(before);
        if (matched != null) {
            expression.append("(?:").append(matched).append(')');
            if (isRepeated) {
                expression.append("(?:");
                quote(after);
                quote(before);
                expression.append("(?:").append(matched).append("))*");
            }
        }
        quote(after);
        expression.append(')');
        if (matched == null && modifier != ' ') {
            expression.append(modifier);
        } else if (modifier == '*' || modifier == '?') {
            expression.append('?');
        }
    }

    private void quote(CharSequence literal) {
        length += literal.length();
        for (int i = 0; i < literal.length(); i++) {
            char next = literal.charAt(i);
            if (!Character.isLetterOrDigit(next) && next < 128) {
                expression.append('\\');
            }
            expression.append(next);
        }
    }
}
