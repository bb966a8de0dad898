package io.millrace.proxy.extension;

/** A call of a hook has exceeded a limit of its results. */
final class HookLimitException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    HookLimitException(String message) {
        super(message);
    }
}
