package io.millrace.launcher.fleet;

/** A condition that an operator must change: wrong credentials, or a stream that cannot be used. */
final class FleetException extends Exception {
    private static final long serialVersionUID = 1L;

    FleetException(String message) {
        super(message);
    }
}
