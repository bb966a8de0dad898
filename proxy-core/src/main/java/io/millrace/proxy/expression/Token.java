package io.millrace.proxy.expression;

/**
 * A token of an expression.
 *
 * @param kind the kind of the token
 * @param text a name, a number with its unit, or a symbol, as written; the unescaped value of a text in quotes
 * @param offset start in the expression, in UTF-16 units
 */
record Token(Kind kind, String text, int offset) {
    enum Kind {
        NAME,
        NUMBER,
        TEXT,
        /** An operator, a parenthesis, a bracket or a comma. */
        SYMBOL,
        END
    }

    boolean is(String symbol) {
        return kind == Kind.SYMBOL && text.equals(symbol);
    }

    boolean isName(String name) {
        return kind == Kind.NAME && text.equals(name);
    }

    /** Returns the token for a message. */
    String shown() {
        return switch (kind) {
            case END -> "the end";
            case TEXT -> "the text " + Literal.quoted(shortened());
            default -> "'" + shortened() + "'";
        };
    }

    private String shortened() {
        return text.length() <= 40 ? text : text.substring(0, 40) + "…";
    }
}
