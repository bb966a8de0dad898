package io.millrace.proxy.expression;

/** A comparison of a field with one literal. */
enum Operator {
    EQUAL("=="),
    NOT_EQUAL("!="),
    LESS("<"),
    LESS_OR_EQUAL("<="),
    GREATER(">"),
    GREATER_OR_EQUAL(">="),
    /** An RE2 expression is found in the text. */
    MATCH("=~");

    private final String text;

    Operator(String text) {
        this.text = text;
    }

    String text() {
        return text;
    }

    /** Whether it holds between two numbers. */
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
