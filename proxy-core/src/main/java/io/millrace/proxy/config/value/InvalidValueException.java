package io.millrace.proxy.config.value;

import org.jspecify.annotations.Nullable;

/** A text that is no value of its {@code ValueType}; the message names what was expected. Never leaves {@code config}. */
public final class InvalidValueException extends Exception {
    private static final long serialVersionUID = 1L;

    private final @Nullable String suggestion;

    public InvalidValueException(String message) {
        this(message, null);
    }

    public InvalidValueException(String message, @Nullable String suggestion) {
        super(message, null, false, false);
        this.suggestion = suggestion;
    }

    public String problem() {
        String message = getMessage();
        return message == null ? "invalid value" : message;
    }

    public @Nullable String suggestion() {
        return suggestion;
    }
}
