package io.millrace.proxy.observe.log;

import java.util.List;

/** A text that is no format of the access log. */
public final class LogTemplateException extends Exception {
    private static final long serialVersionUID = 1L;

    private final String wrong;
    private final transient List<String> known;

    LogTemplateException(String message, String wrong, List<String> known) {
        super(message, null, false, false);
        this.wrong = wrong;
        this.known = known;
    }

    /** The word that is wrong; empty when it is none. */
    public String wrong() {
        return wrong;
    }

    /** The words that could have stood in its place. */
    public List<String> known() {
        return known;
    }
}
