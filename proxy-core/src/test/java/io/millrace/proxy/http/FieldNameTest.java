package io.millrace.proxy.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

final class FieldNameTest {

    @ParameterizedTest(name = "RFC 9110 5.1: {0} in any case is one instance")
    @MethodSource("wellKnown")
    void findsEveryWellKnownNameInAnyCase(FieldName name) {
        assertSame(name, FieldName.of(name.text()));
        assertSame(name, FieldName.of(name.text().toUpperCase(Locale.ROOT)));
        assertSame(name, FieldName.of(name.lower()));
        assertNotEquals(FieldName.UNKNOWN, name.id());
        byte[] within = ("xx" + name.text() + "yy").getBytes(ISO_8859_1);
        assertSame(name, FieldName.of(within, 2, within.length - 2));
    }

    @Test
    void idsAreUnique() {
        List<FieldName> names = wellKnown();
        assertEquals(names.size(), names.stream().map(FieldName::id).distinct().count());
    }

    @Test
    void otherNamesAreEqualWithoutRegardToCase() {
        FieldName one = FieldName.of("X-Thing");
        FieldName other = FieldName.of("x-thinG");
        assertEquals(FieldName.UNKNOWN, one.id());
        assertEquals(one, other);
        assertEquals(one.hashCode(), other.hashCode());
        assertEquals("X-Thing", one.text());
        assertNotEquals(one, FieldName.of("X-Thing2"));
    }

    @ParameterizedTest(name = "RFC 9110 5.6.2: \"{0}\" is no token")
    @ValueSource(strings = {"", " ", "a b", "a:", "a\u00e9", "a\"", "a/b", "(a)", "a\t"})
    void rejectsInvalidTokens(String text) {
        assertThrows(IllegalArgumentException.class, () -> FieldName.of(text));
        byte[] bytes = text.getBytes(ISO_8859_1);
        assertNull(FieldName.of(bytes, 0, bytes.length));
    }

    static List<FieldName> wellKnown() {
        return Arrays.stream(FieldName.class.getDeclaredFields())
                .filter(field -> Modifier.isPublic(field.getModifiers()) && field.getType() == FieldName.class)
                .map(FieldNameTest::valueOf)
                .toList();
    }

    private static FieldName valueOf(Field field) {
        try {
            return (FieldName) field.get(null);
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }
}
