package io.millrace.proxy.http;

/** The head of a response as received from an origin: status, reason phrase, version and fields. Immutable. */
public final class ResponseHead {

    private final int status;
    private final String reason;
    private final int version;
    private final FieldSection fields;

    private ResponseHead(int status, String reason, int version, FieldSection fields) {
        this.status = status;
        this.reason = reason;
        this.version = version;
        this.fields = fields;
    }

    /** Creates the head of an HTTP/1.1 response. The reason phrase may be empty. */
    public static ResponseHead of(int status, String reason, FieldSection fields) {
        return new ResponseHead(status, reason, 1, fields);
    }

    /** Creates the head of an HTTP/1.{@code minorVersion} response. The reason phrase may be empty. */
    public static ResponseHead of(int status, String reason, int minorVersion, FieldSection fields) {
        return new ResponseHead(status, reason, minorVersion, fields);
    }

    /** Creates the head of an HTTP/2 response. The reason phrase is for HTTP/1.1 clients. */
    public static ResponseHead ofHttp2(int status, String reason, FieldSection fields) {
        return new ResponseHead(status, reason, 2, fields);
    }

    /** Returns this head with other fields. */
    public ResponseHead withFields(FieldSection others) {
        return new ResponseHead(status, reason, version, others);
    }

    /** The status code, 100 to 599 (RFC 9110 s15). */
    public int status() {
        return status;
    }

    /** The reason phrase as received, or for HTTP/2 the usual one; may be empty. */
    public String reason() {
        return reason;
    }

    /** The minor version of HTTP/1: 0 or 1; also 1 for later major versions. */
    public int minorVersion() {
        return Math.min(1, version);
    }

    /** The HTTP version of the response: 0 for HTTP/1.0, 1 for HTTP/1.1, 2 for HTTP/2. */
    public int version() {
        return version;
    }

    public FieldSection fields() {
        return fields;
    }

    /** Returns true if the status is 2xx (RFC 9110 s15.3). */
    public boolean isSuccessful() {
        return status >= 200 && status < 300;
    }

    /** Returns true if the status is interim, 1xx (RFC 9110 s15.2). */
    public boolean isInterim() {
        return status < 200;
    }

    /** Returns status and reason, for messages. */
    @Override
    public String toString() {
        return status + " " + reason;
    }
}
