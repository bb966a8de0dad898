package io.millrace.proxy.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Field;
import org.junit.jupiter.api.Test;

class FieldNamesTest {
    private static final FieldNames NAMES = FieldNames.of(FieldName.HOST, FieldName.X_FORWARDED_FOR);

    private static FieldSection section(String... names) {
        FieldSection.Builder fields = FieldSection.builder();
        for (String name : names) {
            fields.add(name, "1");
        }
        return fields.build();
    }

    @Test
    void findsItsNamesInAnyCaseAndNoOthers() {
        FieldSection fields = section("hOST", "Accept", "X-Unknown", "x-forwarded-for");
        assertTrue(NAMES.contains(fields, 0));
        assertFalse(NAMES.contains(fields, 1));
        assertFalse(NAMES.contains(fields, 2));
        assertTrue(NAMES.contains(fields, 3));
    }

    /** Names share the bits of the set in a section. */
    @Test
    void isInASectionOnlyWithOneOfItsNames() throws IllegalAccessException {
        for (Field constant : FieldName.class.getFields()) {
            FieldName name = (FieldName) constant.get(null);
            assertEquals(NAMES.contains(name), NAMES.isAnyIn(section("X-Unknown", name.text())), name.text());
        }
        assertFalse(NAMES.isAnyIn(FieldSection.EMPTY));
    }

    @Test
    void refusesANameThatIsNotWellKnown() {
        FieldName unknown = FieldName.of("X-Unknown");
        assertThrows(IllegalArgumentException.class, () -> FieldNames.of(unknown));
    }
}
