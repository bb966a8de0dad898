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
    private static final Set<Method> REFUSED = EnumSet.of(Method.CONNECT, Method.TRACE);

    @Test
    void section936RefusesConnect() {
        assertEquals(
                new AccessResult.Denied(405, DenialReason.CONNECT_REFUSED), MethodPolicy.DEFAULT.check(Method.CONNECT));
    }

    @Test
    void section938RefusesTrace() {
        assertEquals(
                new AccessResult.Denied(405, DenialReason.TRACE_REFUSED), MethodPolicy.DEFAULT.check(Method.TRACE));
    }

    @Test
    void letsEveryOtherMethodThrough() {
        for (Method method : EnumSet.complementOf(EnumSet.copyOf(REFUSED))) {
            assertSame(AccessResult.ALLOWED, MethodPolicy.DEFAULT.check(method), method.name());
        }
    }

    @Test
    void section15_5_6NamesInAllowWhatItLetsThrough() {
        List<String> allowed = List.of(MethodPolicy.ALLOW.split(", ", -1));
        for (Method method : Method.values()) {
            boolean named = method != Method.OTHER && !REFUSED.contains(method);
            assertEquals(named, allowed.contains(method.name()), method.name());
        }
        for (DenialReason reason : DenialReason.values()) {
            assertTrue(reason.text().length() > 5);
        }
    }
}
