package io.millrace.proxy.access;

import io.millrace.proxy.http.Method;

/**
 * Which methods may be used. CONNECT and TRACE are refused with 405; every other method goes on, those that the proxy
 * does not know included. Immutable.
 */
public final class MethodPolicy {
    /** The policy. */
    public static final MethodPolicy DEFAULT = new MethodPolicy();

    /** The value of the Allow field that a 405 must carry (RFC 9110 s15.5.6). */
    public static final String ALLOW = "GET, HEAD, POST, PUT, DELETE, OPTIONS, PATCH";

    private static final int METHOD_NOT_ALLOWED = 405;
    private static final AccessResult.Denied CONNECT =
            new AccessResult.Denied(METHOD_NOT_ALLOWED, DenialReason.CONNECT_REFUSED);
    private static final AccessResult.Denied TRACE =
            new AccessResult.Denied(METHOD_NOT_ALLOWED, DenialReason.TRACE_REFUSED);

    private MethodPolicy() {}

    /** Whether a request with this method may go on. */
    public AccessResult check(Method method) {
        return switch (method) {
            case CONNECT -> CONNECT;
            case TRACE -> TRACE;
            case GET, HEAD, POST, PUT, DELETE, OPTIONS, PATCH, OTHER -> AccessResult.ALLOWED;
        };
    }
}
