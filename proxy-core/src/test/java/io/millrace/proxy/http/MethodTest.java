package io.millrace.proxy.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

final class MethodTest {

    @ParameterizedTest(name = "RFC 9110 9: {0} is found by its name")
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "OTHER")
    void findsNamedMethods(Method method) {
        byte[] bytes = method.name().getBytes(ISO_8859_1);
        assertEquals(method, Method.of(method.name()));
        assertEquals(method, Method.of(bytes, 0, bytes.length));
    }

    @ParameterizedTest(name = "RFC 9110 9.1: {0} is another method")
    @ValueSource(strings = {"get", "GETS", "GE", "", "OTHER", "purge", "M-SEARCH"})
    void namesAreCaseSensitive(String name) {
        byte[] bytes = name.getBytes(ISO_8859_1);
        assertEquals(Method.OTHER, Method.of(name));
        assertEquals(Method.OTHER, Method.of(bytes, 0, bytes.length));
    }

    @Test
    void knowsSafeAndIdempotentMethods_RFC9110_9_2() {
        assertTrue(Method.GET.isSafe());
        assertTrue(Method.HEAD.isSafe());
        assertTrue(Method.OPTIONS.isSafe());
        assertTrue(Method.TRACE.isSafe());
        assertFalse(Method.PUT.isSafe());
        assertTrue(Method.PUT.isIdempotent());
        assertTrue(Method.DELETE.isIdempotent());
        assertFalse(Method.POST.isIdempotent());
        assertFalse(Method.PATCH.isIdempotent());
        assertFalse(Method.PURGE.isSafe());
        assertFalse(Method.OTHER.isSafe());
        assertFalse(Method.OTHER.isIdempotent());
    }

    @Test
    void requestHeadKeepsTheNameOfAnotherMethod() {
        TargetUri target = (TargetUri) TargetUri.parseAbsolute("http://a/x");
        RequestHead head = RequestHead.of("M-SEARCH", target, 0, FieldSection.EMPTY);
        assertEquals(Method.OTHER, head.method());
        assertEquals("M-SEARCH http://a/x HTTP/1.0", head.toString());
    }
}
