package io.millrace.cli.command;

/** An expression with a caret below the position that an error names. No state. */
public final class MarkedExpression {
    private static final String BEGINNING = "where:";
    /** Length of the shown part of a line, and the most columns of it before the position. */
    private static final int SHOWN = 70;

    private static final int SHOWN_BEFORE = 50;
    private static final int DIGITS_MAX = 6;

    private MarkedExpression() {}

    /**
     * Returns the line of the expression and below it the caret; empty if the message has no position in the expression.
     *
     * @param message begins with {@code where:line:column:}
     */
    public static String[] lines(String expression, String message) {
        int afterLine = message.indexOf(':', BEGINNING.length());
        int afterColumn = message.indexOf(':', afterLine + 1);
        if (!message.startsWith(BEGINNING) || afterLine < 0 || afterColumn < 0) {
            return new String[0];
        }
        int number = number(message.substring(BEGINNING.length(), afterLine)) - 1;
        int column = number(message.substring(afterLine + 1, afterColumn)) - 1;
        String[] lines = expression.split("\n", -1);
        if (number < 0 || number >= lines.length || column < 0 || column > lines[number].length()) {
            return new String[0];
        }
        String line = lines[number];
        int from = Math.max(0, column - SHOWN_BEFORE);
        int to = Math.min(line.length(), from + SHOWN);
        String shown = line.substring(from, to).replace('\t', ' ');
        return new String[] {shown, " ".repeat(column - from) + "^"};
    }

    /** Returns the value of up to six decimal digits, and 0 for any other text. */
    private static int number(String text) {
        if (text.isEmpty() || text.length() > DIGITS_MAX) {
            return 0;
        }
        int value = 0;
        for (int i = 0; i < text.length(); i++) {
            int digit = text.charAt(i) - '0';
            if (digit < 0 || digit > 9) {
                return 0;
            }
            value = 10 * value + digit;
        }
        return value;
    }
}
