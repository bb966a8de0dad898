package io.millrace.proxy.http;

/** Why a request has no usable target URI (RFC 9112 s3.2, s3.3); each is answered with 400. */
public enum TargetProblem implements TargetResult {
    /** The request target is empty or has a form that its method does not allow. */
    FORM("target-form"),
    /** Scheme other than http or https. */
    SCHEME("target-scheme"),
    /** A byte that cannot stand in a request target: control, space, fragment sign, above 0x7e, or a backslash in the path. */
    BYTE("target-byte"),
    /** User name or password in the authority (RFC 9110 s4.2.4). */
    USERINFO("target-userinfo"),
    /** HTTP/1.1 without Host field. */
    HOST_MISSING("host-missing"),
    /** More than one Host field. */
    HOST_REPEATED("host-repeated"),
    /** A host that is neither a name nor an address literal, or empty. */
    HOST("host-syntax"),
    /** A port that is not 1 to 65535. */
    PORT("host-port");

    private final String text;

    TargetProblem(String text) {
        this.text = text;
    }

    /** Stable name for logs and error pages. */
    public String text() {
        return text;
    }
}
