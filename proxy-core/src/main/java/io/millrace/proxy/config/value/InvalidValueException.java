package io.millrace.proxy.config.value;

import org.jspecify.annotations.Nullable;

/**
 * Thrown for a text that is not a value of its {@code ValueType}. The message contains the expected form. Never thrown
 * out of {@code config}.
 */
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
