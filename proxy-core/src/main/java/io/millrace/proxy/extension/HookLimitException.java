package io.millrace.proxy.extension;

/** Thrown when a call of a hook exceeds a limit of its results. */
final class HookLimitException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    HookLimitException(String message) {
        super(message);
    }
}
