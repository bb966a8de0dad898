package io.millrace.proxy.access;

/** The result of an access check. Never allocated per request. */
public sealed interface AccessResult permits AccessResult.Allowed, AccessResult.Denied {
    /** The only instance of {@link Allowed}. */
    Allowed ALLOWED = new Allowed();

    /** The request continues with the next check. */
    record Allowed() implements AccessResult {}

    /**
     * The request is denied.
     *
     * @param status the status of the response
     * @param reason the reason for the log and the error page
     */
    record Denied(int status, DenialReason reason) implements AccessResult {}
}
