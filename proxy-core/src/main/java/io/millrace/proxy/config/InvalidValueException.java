package io.millrace.proxy.config;

import org.jspecify.annotations.Nullable;

/** A text that is no value of its {@link ValueType}; the message names what was expected. Never leaves this package. */
final class InvalidValueException extends Exception {
    private static final long serialVersionUID = 1L;

    private final @Nullable String suggestion;

    InvalidValueException(String message) {
        this(message, null);
    }

    InvalidValueException(String message, @Nullable String suggestion) {
        super(message, null, false, false);
        this.suggestion = suggestion;
    }

    String problem() {
        String message = getMessage();
        return message == null ? "invalid value" : message;
    }

    @Nullable
    String suggestion() {
        return suggestion;
    }
}
