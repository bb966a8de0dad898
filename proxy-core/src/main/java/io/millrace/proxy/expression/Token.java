package io.millrace.proxy.expression;

/**
 * A token of an expression.
 *
 * @param kind its kind
 * @param text a name, a number with its unit or an operator as it was written; of a text in quotes its value
 * @param offset where it begins, in UTF-16 units
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

    /** As it is shown in a message. */
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
