package io.millrace.proxy.access;

/** The reasons for the denial of a request. */
public enum DenialReason {
    /** CONNECT requests a tunnel, which a proxy in front of origins does not offer (RFC 9110 s9.3.6). */
    CONNECT_REFUSED("CONNECT is not supported"),
    /** TRACE would reveal fields that the client did not send itself (RFC 9110 s9.3.8). */
    TRACE_REFUSED("TRACE is not supported"),
    /** The rule's list does not contain the method. */
    METHOD_REFUSED("the method is not allowed for this URL");

    private final String text;

    DenialReason(String text) {
        this.text = text;
    }

    /** The text for error pages and logs. */
    public String text() {
        return text;
    }
}
