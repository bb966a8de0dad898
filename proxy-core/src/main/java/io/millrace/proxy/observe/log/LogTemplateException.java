package io.millrace.proxy.observe.log;

import java.util.List;

/** Reports a text that is not a format of the access log. */
public final class LogTemplateException extends Exception {
    private static final long serialVersionUID = 1L;

    private final String wrong;
    private final transient List<String> known;

    LogTemplateException(String message, String wrong, List<String> known) {
        super(message, null, false, false);
        this.wrong = wrong;
        this.known = known;
    }

    /** The wrong word; empty if the problem is not one word. */
    public String wrong() {
        return wrong;
    }

    /** The valid words for its position. */
    public List<String> known() {
        return known;
    }
}
