package io.millrace.proxy.expression;

/** Splits the text of an expression into tokens. Confined to one thread. */
final class Lexer {
    private static final String[] SYMBOLS = {
        "&&", "||", "==", "!=", "<=", ">=", "=~", "<", ">", "!", "(", ")", "[", "]", ","
    };

    private final String text;
    private int position;

    Lexer(String text) {
        this.text = text;
    }

    /** Returns the next token. At the end of the text, every call returns {@link Token.Kind#END}. */
    Token next() throws ExpressionException {
        while (position < text.length() && " \t\r\n".indexOf(text.charAt(position)) >= 0) {
            position++;
        }
        int from = position;
        if (from == text.length()) {
            return new Token(Token.Kind.END, "", from);
        }
        char first = text.charAt(from);
        if (first == '"' || first == '\'') {
            return quoted(first);
        }
        if (isDigit(first)) {
            skipWord();
            return new Token(Token.Kind.NUMBER, text.substring(from, position), from);
        }
        if (isLetter(first)) {
            skipWord();
            return new Token(Token.Kind.NAME, text.substring(from, position), from);
        }
        for (String symbol : SYMBOLS) {
            if (text.startsWith(symbol, from)) {
                position += symbol.length();
                return new Token(Token.Kind.SYMBOL, symbol, from);
            }
        }
        throw new ExpressionException(text, from, unexpected(first));
    }

    private static String unexpected(char c) {
        return switch (c) {
            case '=' -> "a single '=' (did you mean ==?)";
            case '&' -> "a single '&' (did you mean &&?)";
            case '|' -> "a single '|' (did you mean ||?)";
            case '~' -> "a single '~' (did you mean =~?)";
            case '-', '+' -> "numbers have no sign";
            default -> "a character that belongs in quotes: " + shown(c);
        };
    }

    private static String shown(char c) {
        return c > ' ' && c < 0x7f ? "'" + c + "'" : "U+" + hex(c);
    }

    private static String hex(char c) {
        return Integer.toHexString(0x10000 | c).substring(1).toUpperCase(java.util.Locale.ROOT);
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    private static boolean isLetter(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    }

    /** Skips digits, letters and dots. Numbers such as {@code 1.5GiB} contain dots. */
    private void skipWord() {
        while (position < text.length()
                && (isDigit(text.charAt(position))
                        || isLetter(text.charAt(position))
                        || text.charAt(position) == '.')) {
            position++;
        }
    }

    /**
     * Reads a text in quotes. A backslash is an escape only before a quote or a backslash, so that regular expressions
     * need no second backslash.
     */
    private Token quoted(char quote) throws ExpressionException {
        int from = position++;
        StringBuilder value = new StringBuilder();
        while (position < text.length()) {
            char c = text.charAt(position++);
            if (c == quote) {
                return new Token(Token.Kind.TEXT, value.toString(), from);
            }
            if (c < ' ' || c == 0x7f) {
                throw new ExpressionException(text, position - 1, "a control character in quotes: " + shown(c));
            }
            boolean isEscape = c == '\\' && position < text.length() && "\"'\\".indexOf(text.charAt(position)) >= 0;
            value.append(isEscape ? text.charAt(position++) : c);
        }
        throw new ExpressionException(text, from, "the closing " + quote + " is missing");
    }
}
