package io.millrace.proxy.observe.log;

import java.util.List;

/** Thrown for a text that is not a valid format of the access log. */
public final class LogTemplateException extends Exception {
    private static final long serialVersionUID = 1L;

    private final String unknownWord;
    private final transient List<String> validWords;

    LogTemplateException(String message, String wrong, List<String> known) {
        super(message, null, false, false);
        this.unknownWord = wrong;
        this.validWords = known;
    }

    /** The unknown word in the text; empty for any other problem. */
    public String unknownWord() {
        return unknownWord;
    }

    /** The valid words that may replace the unknown word, for suggestions. */
    public List<String> validWords() {
        return validWords;
    }
}
