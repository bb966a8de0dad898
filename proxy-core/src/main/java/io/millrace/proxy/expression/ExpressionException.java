package io.millrace.proxy.expression;

/** A syntax or type error in an expression, with its position. */
public final class ExpressionException extends Exception {
    private final int line;
    private final int column;

    /**
     * Creates an error at an offset of the text.
     *
     * @param problem the error, with the expected and the actual text
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

    /** Returns the line of the error; the first line is 1. */
    public int line() {
        return line;
    }

    /** Returns the column of the error in its line, in UTF-16 units; the first column is 1. */
    public int column() {
        return column;
    }

    /** Returns {@code line:column: problem}. */
    public String message() {
        return String.valueOf(getMessage());
    }
}
