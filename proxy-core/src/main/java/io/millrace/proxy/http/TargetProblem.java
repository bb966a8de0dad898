package io.millrace.proxy.http;

/** The reasons why a request has no usable target URI (RFC 9112 s3.2, s3.3). Each is answered with 400. */
public enum TargetProblem implements TargetResult {
    /** The request target is empty or has a form that its method does not allow. */
    FORM("target-form"),
    /** The scheme is neither http nor https. */
    SCHEME("target-scheme"),
    /**
     * A byte is not allowed in a request target: control, space, fragment sign, above 0x7e, or a backslash in the path.
     */
    BYTE("target-byte"),
    /** The authority has a user name or password (RFC 9110 s4.2.4). */
    USERINFO("target-userinfo"),
    /** An HTTP/1.1 request has no Host field. */
    HOST_MISSING("host-missing"),
    /** The request has more than one Host field. */
    HOST_REPEATED("host-repeated"),
    /** The host is empty, or neither a name nor an address literal. */
    HOST("host-syntax"),
    /** The port is not a number from 1 to 65535, or CONNECT has none. */
    PORT("host-port");

    private final String text;

    TargetProblem(String text) {
        this.text = text;
    }

    /** The identifier of this problem in logs and on error pages. Never changes. */
    public String text() {
        return text;
    }
}
