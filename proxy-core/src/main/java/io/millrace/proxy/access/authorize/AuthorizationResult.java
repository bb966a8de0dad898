package io.millrace.proxy.access.authorize;

import io.millrace.proxy.access.CredentialCheck;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;

/** The decision of an authorisation server about a request, or the reason why there is none. Immutable. */
public final class AuthorizationResult implements CredentialCheck.Result {
    /** Beginning of the details in the access log and Cache-Status. */
    public static final String DETAIL_PREFIX = "authorize:";

    /** The kinds of results. */
    public enum Kind {
        /** The server allows the request. */
        ALLOWED,
        /** The server refuses the request, or redirects the client to a login. */
        REFUSED,
        /** The server made no decision. */
        FAILED,
        /** The server was not asked, because a limit of this proxy is reached. */
        OVERLOADED
    }

    private static final byte[] NONE = {};
    private static final int FORBIDDEN = 403;

    private final Kind kind;
    private final int status;
    private final FieldSection fields;
    private final byte[] body;
    private final String reason;

    private AuthorizationResult(Kind kind, int status, FieldSection fields, byte[] body, String reason) {
        this.kind = kind;
        this.status = status;
        this.fields = fields;
        this.body = body;
        this.reason = reason;
    }

    /**
     * Returns the result for an allowed request.
     *
     * @param fields fields for the origin
     */
    public static AuthorizationResult allowed(FieldSection fields) {
        return new AuthorizationResult(Kind.ALLOWED, 0, fields, NONE, "allowed");
    }

    /**
     * Returns the result for a refused request.
     *
     * @param status status for the client
     * @param fields fields for the client
     * @param body content for the client, which the result borrows; empty if the proxy itself writes a text
     */
    public static AuthorizationResult refused(int status, FieldSection fields, byte[] body) {
        return new AuthorizationResult(Kind.REFUSED, status, fields, body, Integer.toString(status));
    }

    /**
     * Returns the result for a request that the server refuses by a status that clients do not get. They get 403.
     *
     * @param reason one word, such as {@code status-404}
     */
    public static AuthorizationResult forbidden(String reason) {
        return new AuthorizationResult(Kind.REFUSED, FORBIDDEN, FieldSection.EMPTY, NONE, reason);
    }

    /**
     * Returns the result for a request about which the server is not asked, because a limit of this proxy is reached.
     *
     * @param reason one word, such as {@code queue-full}
     */
    public static AuthorizationResult overloaded(String reason) {
        return new AuthorizationResult(Kind.OVERLOADED, 0, FieldSection.EMPTY, NONE, reason);
    }

    /**
     * Returns the result for a request that the server has not decided about.
     *
     * @param reason one word, such as {@code timeout} or {@code status-500}
     */
    public static AuthorizationResult failed(String reason) {
        return new AuthorizationResult(Kind.FAILED, 0, FieldSection.EMPTY, NONE, reason);
    }

    /** The kind of the result. */
    public Kind kind() {
        return kind;
    }

    /** Status for the client of a refused request; otherwise 0. */
    public int status() {
        return status;
    }

    /** Fields for the origin of an allowed request, or for the client of a refused one. */
    public FieldSection fields() {
        return fields;
    }

    /** Content for the client of a refused request. Borrowed, and must not be changed. */
    public byte[] body() {
        return body;
    }

    /** The detail for the access log and Cache-Status: {@code authorize:401}, {@code authorize:timeout}. */
    public String detail() {
        return DETAIL_PREFIX + reason;
    }

    /** Returns true if the result is for one client only, because its response sets a cookie. */
    public boolean isForOneClient() {
        return kind == Kind.REFUSED && fields.contains(FieldName.SET_COOKIE);
    }

    /** Bytes of fields and body. */
    int weight() {
        return fields.wireLength() + body.length;
    }
}
