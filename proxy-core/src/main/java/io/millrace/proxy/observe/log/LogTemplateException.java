package io.millrace.proxy.observe.log;

import java.util.List;

/** Thrown for a text that is not a valid format of the access log. */
public final class LogTemplateException extends Exception {
    private static final long serialVersionUID = 1L;

    private final String wrong;
    private final transient List<String> known;

    LogTemplateException(String message, String wrong, List<String> known) {
        super(message, null, false, false);
        this.wrong = wrong;
        this.known = known;
    }

    /** The unknown word in the text; empty for any other problem. */
    public String wrong() {
        return wrong;
    }

    /** The valid words that may replace the unknown word, for suggestions. */
    public List<String> known() {
        return known;
    }
}
