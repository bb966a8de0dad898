package io.millrace.proxy.extension;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.http.FieldSection;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EditedFieldsTest {
    private final FieldSection before =
            FieldSection.builder().add("A", "1").add("B", "2").add("a", "3").build();
    private final EditedFields fields = new EditedFields(before, EditedFields.FIXED_IN_STORED);

    @Test
    void readsLinesWithoutRegardToCase() {
        assertEquals(3, fields.size());
        assertEquals(0, fields.find("a"));
        assertEquals(2, fields.next("A", 0));
        assertEquals(-1, fields.next("A", 2));
        assertEquals("2", fields.get("b"));
        assertNull(fields.get("C"));
        assertTrue(fields.isNamed(2, "A"));
        assertFalse(fields.isNamed(1, "A"));
        assertTrue(fields.hasValue(1, "2"));
        assertFalse(fields.hasValue(1, "22"));
        assertFalse(fields.hasValue(1, "3"));
        assertNull(fields.edits());
    }

    @Test
    void viewAndEditsHaveTheSameResult() {
        fields.set("A", "4");
        fields.add("B", "5");
        fields.add("C", "6");
        fields.remove("c");
        fields.add("C", "7");
        String expected = "B: 2\r\nA: 4\r\nB: 5\r\nC: 7\r\n";
        assertEquals(expected, text(fields.section()));
        assertEquals(expected, text(fields.edits().applyTo(before)));
    }

    private static String text(FieldSection section) {
        StringBuilder text = new StringBuilder();
        for (int line = 0; line < section.size(); line++) {
            text.append(section.name(line))
                    .append(": ")
                    .append(section.value(line))
                    .append("\r\n");
        }
        return text.toString();
    }

    @ParameterizedTest
    @ValueSource(strings = {"content-length", "Transfer-Encoding", "CONNECTION", "ETag"})
    void fieldsOfThisProxyCannotBeChanged(String name) {
        assertThrows(IllegalArgumentException.class, () -> fields.set(name, "1"));
        assertThrows(IllegalArgumentException.class, () -> fields.add(name, "1"));
        assertThrows(IllegalArgumentException.class, () -> fields.remove(name.toLowerCase(Locale.ROOT)));
        assertNull(fields.edits());
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\r\nb: c", "a\0", "\u0100"})
    void valuesThatBreakTheMessageAreRefused(String value) {
        assertThrows(IllegalArgumentException.class, () -> fields.add("X", value));
        assertThrows(IllegalArgumentException.class, () -> fields.add("X Y", "1"));
    }

    @Test
    void linesAndBytesOfOneCallAreLimited() {
        for (int i = 0; i < EditedFields.LINES_MAX; i++) {
            fields.add("X", "1");
        }
        assertThrows(HookLimitException.class, () -> fields.add("X", "1"));
        EditedFields fresh = new EditedFields(before, EditedFields.FIXED_IN_STORED);
        assertThrows(HookLimitException.class, () -> fresh.add("X", "v".repeat(EditedFields.BYTES_MAX)));
    }
}
