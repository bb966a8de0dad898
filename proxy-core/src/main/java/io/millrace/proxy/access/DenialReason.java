package io.millrace.proxy.access;

/** Why a request may not go on. */
public enum DenialReason {
    /** CONNECT asks for a tunnel, which a proxy in front of origins does not offer (RFC 9110 s9.3.6). */
    CONNECT_REFUSED("CONNECT is not supported"),
    /** TRACE would show fields that the client did not send itself (RFC 9110 s9.3.8). */
    TRACE_REFUSED("TRACE is not supported"),
    /** The rule's list of methods does not have it. */
    METHOD_REFUSED("the method is not allowed for this URL");

    private final String text;

    DenialReason(String text) {
        this.text = text;
    }

    /** For people. */
    public String text() {
        return text;
    }
}
