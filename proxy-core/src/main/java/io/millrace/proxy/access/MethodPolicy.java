package io.millrace.proxy.access;

import io.millrace.proxy.http.Method;
import java.util.List;
import java.util.Set;

/**
 * The methods that a rule allows. CONNECT is never allowed. Without a list, all other methods except TRACE are allowed,
 * including unknown ones. Immutable.
 */
public final class MethodPolicy {
    /** The policy of a rule without a list of methods. */
    public static final MethodPolicy DEFAULT =
            new MethodPolicy(Set.of(), "GET, HEAD, POST, PUT, DELETE, OPTIONS, PATCH");

    private static final int METHOD_NOT_ALLOWED = 405;
    private static final AccessResult.Denied CONNECT =
            new AccessResult.Denied(METHOD_NOT_ALLOWED, DenialReason.CONNECT_REFUSED);
    private static final AccessResult.Denied TRACE =
            new AccessResult.Denied(METHOD_NOT_ALLOWED, DenialReason.TRACE_REFUSED);
    private static final AccessResult.Denied NOT_LISTED =
            new AccessResult.Denied(METHOD_NOT_ALLOWED, DenialReason.METHOD_REFUSED);

    /** Empty for the default policy. */
    private final Set<String> listed;

    private final String allow;

    private MethodPolicy(Set<String> listed, String allow) {
        this.listed = listed;
        this.allow = allow;
    }

    /**
     * Returns the policy of a rule.
     *
     * @param methods the allowed methods, which are case-sensitive (RFC 9110 s9.1); empty for the default policy
     */
    public static MethodPolicy of(List<String> methods) {
        return methods.isEmpty() ? DEFAULT : new MethodPolicy(Set.copyOf(methods), String.join(", ", methods));
    }

    /**
     * The value of the Allow field. It is required in a 405 and optional in a response to OPTIONS (RFC 9110 s10.2.1,
     * s15.5.6).
     */
    public String allow() {
        return allow;
    }

    /**
     * Checks whether a request is allowed.
     *
     * @param name name of the method in its original spelling
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
