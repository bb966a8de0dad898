package io.millrace.proxy.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.http.Method;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class MethodPolicyTest {
    /** For the proxy itself, and for clients that may purge. */
    private static final Set<Method> PURGING = Set.of(Method.PURGE, Method.BAN, Method.PURGEKEYS);

    private static final Set<Method> REFUSED = EnumSet.of(Method.CONNECT, Method.TRACE);

    private static AccessResult check(MethodPolicy policy, String name) {
        return policy.check(Method.of(name), name);
    }

    @Test
    void section936RefusesConnectWithAnyList() {
        AccessResult refused = new AccessResult.Denied(405, DenialReason.CONNECT_REFUSED);
        assertEquals(refused, check(MethodPolicy.DEFAULT, "CONNECT"));
        assertEquals(refused, check(MethodPolicy.of(List.of("CONNECT")), "CONNECT"));
    }

    @Test
    void section938RefusesTraceWhereItIsNotListed() {
        assertEquals(new AccessResult.Denied(405, DenialReason.TRACE_REFUSED), check(MethodPolicy.DEFAULT, "TRACE"));
        assertSame(AccessResult.ALLOWED, check(MethodPolicy.of(List.of("TRACE")), "TRACE"));
    }

    @Test
    void letsEveryOtherMethodThroughWithoutAList() {
        for (Method method : EnumSet.complementOf(EnumSet.copyOf(REFUSED))) {
            assertSame(AccessResult.ALLOWED, check(MethodPolicy.DEFAULT, method.name()), method.name());
        }
        assertSame(AccessResult.ALLOWED, check(MethodPolicy.of(List.of()), "PROPFIND"));
    }

    @Test
    void listAdmitsItsNamesInTheSameCase() {
        MethodPolicy policy = MethodPolicy.of(List.of("GET", "PROPFIND"));
        assertSame(AccessResult.ALLOWED, check(policy, "GET"));
        assertSame(AccessResult.ALLOWED, check(policy, "PROPFIND"));
        for (String other : List.of("HEAD", "POST", "TRACE", "get", "Propfind", "OTHER")) {
            assertEquals(new AccessResult.Denied(405, DenialReason.METHOD_REFUSED), check(policy, other), other);
        }
        assertEquals("GET, PROPFIND", policy.allow());
    }

    @Test
    void section15_5_6ListsAllowedMethodsInAllow() {
        List<String> allowed = List.of(MethodPolicy.DEFAULT.allow().split(", ", -1));
        for (Method method : Method.values()) {
            boolean named = method != Method.OTHER && !REFUSED.contains(method) && !PURGING.contains(method);
            assertEquals(named, allowed.contains(method.name()), method.name());
        }
        for (DenialReason reason : DenialReason.values()) {
            assertTrue(reason.text().length() > 5);
        }
    }
}
