package io.millrace.proxy.access;

import io.millrace.proxy.http.Method;
import java.util.List;
import java.util.Set;

/**
 * Which methods a rule lets through. CONNECT never passes; where the rule has no list TRACE does not pass either, and every
 * other method does, those that the proxy does not know included. Immutable.
 */
public final class MethodPolicy {
    /** The policy of a rule without a list of its own. */
    public static final MethodPolicy DEFAULT =
            new MethodPolicy(Set.of(), "GET, HEAD, POST, PUT, DELETE, OPTIONS, PATCH");

    private static final int METHOD_NOT_ALLOWED = 405;
    private static final AccessResult.Denied CONNECT =
            new AccessResult.Denied(METHOD_NOT_ALLOWED, DenialReason.CONNECT_REFUSED);
    private static final AccessResult.Denied TRACE =
            new AccessResult.Denied(METHOD_NOT_ALLOWED, DenialReason.TRACE_REFUSED);
    private static final AccessResult.Denied NOT_LISTED =
            new AccessResult.Denied(METHOD_NOT_ALLOWED, DenialReason.METHOD_REFUSED);

    /** Empty for the default. */
    private final Set<String> listed;

    private final String allow;

    private MethodPolicy(Set<String> listed, String allow) {
        this.listed = listed;
        this.allow = allow;
    }

    /**
     * The policy of a rule.
     *
     * @param methods the names that it lets through, in their own case (RFC 9110 s9.1); empty for the default
     */
    public static MethodPolicy of(List<String> methods) {
        return methods.isEmpty() ? DEFAULT : new MethodPolicy(Set.copyOf(methods), String.join(", ", methods));
    }

    /** The value of the Allow field that a 405 must carry, and an answer to OPTIONS may (RFC 9110 s10.2.1, s15.5.6). */
    public String allow() {
        return allow;
    }

    /**
     * Whether a request may go on.
     *
     * @param name the method as it was spelled
     */
    public AccessResult check(Method method, String name) {
        if (method == Method.CONNECT) {
            return CONNECT;
        }
        if (listed.isEmpty()) {
            return method == Method.TRACE ? TRACE : AccessResult.ALLOWED;
        }
        return listed.contains(name) ? AccessResult.ALLOWED : NOT_LISTED;
    }
}
