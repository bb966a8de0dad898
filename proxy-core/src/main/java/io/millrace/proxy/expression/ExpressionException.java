package io.millrace.proxy.expression;

/** An expression that cannot be parsed: the error with its position. */
public final class ExpressionException extends Exception {
    private final int line;
    private final int column;

    /**
     * An error at an offset of the text.
     *
     * @param problem what is wrong and what was expected
     */
    ExpressionException(String text, int offset, String problem) {
        this(lineOf(text, offset), offset - text.lastIndexOf('\n', offset - 1), problem);
    }

    private ExpressionException(int line, int column, String problem) {
        super(line + ":" + column + ": " + problem, null, false, false);
        this.line = line;
        this.column = column;
    }

    private static int lineOf(String text, int offset) {
        return 1
                + (int) text.substring(0, offset).chars().filter(c -> c == '\n').count();
    }

    /** Line of the error, from 1. */
    public int line() {
        return line;
    }

    /** Column of the error in its line, in UTF-16 units from 1. */
    public int column() {
        return column;
    }

    /** {@code line:column: problem}. */
    public String message() {
        return String.valueOf(getMessage());
    }
}
