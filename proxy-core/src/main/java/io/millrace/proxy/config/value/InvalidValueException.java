package io.millrace.proxy.config.value;

import org.jspecify.annotations.Nullable;

/**
 * Thrown for a text that is not a valid value of its setting. The message contains the expected syntax. The
 * configuration loader reports it as a problem of the configuration.
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

    /** The message; never null. */
    public String problem() {
        String message = getMessage();
        return message == null ? "invalid value" : message;
    }

    /** A valid text that was probably meant; null if there is none. */
    public @Nullable String suggestion() {
        return suggestion;
    }
}
