package io.millrace.proxy.access;

/** Whether a request may go on. Never allocated for a request. */
public sealed interface AccessResult permits AccessResult.Allowed, AccessResult.Denied {
    /** The one instance of {@link Allowed}. */
    Allowed ALLOWED = new Allowed();

    /** The request goes on to the remap rules. */
    record Allowed() implements AccessResult {}

    /**
     * The request ends here.
     *
     * @param status the status to answer with
     * @param reason why, for the log and the error page
     */
    record Denied(int status, DenialReason reason) implements AccessResult {}
}
