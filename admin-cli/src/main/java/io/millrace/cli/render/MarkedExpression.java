package io.millrace.cli.render;

/** An expression with a caret below the position that an error names. No state. */
public final class MarkedExpression {
    private static final String BEGINNING = "where:";
    /** Columns that are shown of a line, and of them those before the position. */
    private static final int SHOWN = 70;

    private static final int SHOWN_BEFORE = 50;
    private static final int DIGITS_MAX = 6;

    private MarkedExpression() {}

    /**
     * The line of the expression and the caret; none where the message has no position in it.
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

    /** 0 for anything but a few digits. */
    private static int number(String text) {
        boolean isNumber =
                !text.isEmpty() && text.length() <= DIGITS_MAX && text.chars().allMatch(c -> c >= '0' && c <= '9');
        return isNumber ? Integer.parseInt(text) : 0;
    }
}
