package io.millrace.cli.render;

/**
 * Colours text for a terminal with escape sequences. Immutable.
 *
 * @param isEnabled true to colour text; false to return it unchanged, for a file or a terminal without colours
 */
public record Paint(boolean isEnabled) {
    /** Returns the text in bold. */
    public String strong(String text) {
        return wrapped("1", text);
    }

    /** Returns the text in green. */
    public String good(String text) {
        return wrapped("32", text);
    }

    /** Returns the text in yellow. */
    public String doubtful(String text) {
        return wrapped("33", text);
    }

    /** Returns the text in red. */
    public String bad(String text) {
        return wrapped("31", text);
    }

    private String wrapped(String code, String text) {
        return isEnabled ? "\u001b[" + code + "m" + text + "\u001b[0m" : text;
    }
}
