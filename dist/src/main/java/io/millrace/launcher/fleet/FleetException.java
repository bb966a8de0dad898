package io.millrace.launcher.fleet;

/** Thrown if the fleet cannot be used until an operator changes something, such as wrong credentials. */
final class FleetException extends Exception {
    private static final long serialVersionUID = 1L;

    FleetException(String message) {
        super(message);
    }
}
