package io.millrace.cli.command;

/** Shows an expression with a caret below the position of an error. Stateless. */
public final class MarkedExpression {
    private static final String BEGINNING = "where:";
    /** Limit of characters that are shown of a line. */
    private static final int SHOWN = 70;

    /** Limit of shown characters before the position of the error. */
    private static final int SHOWN_BEFORE = 50;

    private static final int DIGITS_MAX = 6;

    private MarkedExpression() {}

    /**
     * Returns the line of the expression that contains the error, and a line with the caret. Returns an empty array if
     * the message has no position in the expression.
     *
     * @param message the error message of the admin API. A message with a position begins with
     *     {@code where:LINE:COLUMN:}; {@code where} is the query parameter that contains the expression
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

    /** Returns the value of one to six decimal digits; 0 for other text. */
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
