package io.millrace.proxy.expression;

/** An operator that compares a field with one literal. */
enum Operator {
    EQUAL("=="),
    NOT_EQUAL("!="),
    LESS("<"),
    LESS_OR_EQUAL("<="),
    GREATER(">"),
    GREATER_OR_EQUAL(">="),
    /** The text contains a match of an RE2 expression. */
    MATCH("=~");

    private final String text;

    Operator(String text) {
        this.text = text;
    }

    String text() {
        return text;
    }

    /** Returns whether the comparison holds for two numbers. */
    boolean holds(long left, long right) {
        return switch (this) {
            case EQUAL -> left == right;
            case NOT_EQUAL -> left != right;
            case LESS -> left < right;
            case LESS_OR_EQUAL -> left <= right;
            case GREATER -> left > right;
            case GREATER_OR_EQUAL -> left >= right;
            case MATCH -> false;
        };
    }
}
