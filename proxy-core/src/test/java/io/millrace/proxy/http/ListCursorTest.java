package io.millrace.proxy.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ListCursorTest {

    private static final long SEED = 0x11575L;

    @ParameterizedTest(name = "RFC 9110 5.6.1: {0} has the members {1}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "a, b,c             | a;b;c",
                ", a ,, ,b ,        | a;b",
                "a=\"x, y\", b      | a=\"x, y\";b",
                "a=\"x\\\", y\", b  | a=\"x\\\", y\";b",
                "a=\"x, b           | a=\"x;b",
                "a=\"x\\\\\", b     | a=\"x\\\\\";b",
                "\"a\" b, c         | \"a\" b;c",
                "~~                 | ~~",
                ",,,                | ~~"
            })
    void splitsOneLine(String line, String members) {
        assertEquals(members, String.join(";", members(false, line)));
    }

    @Test
    void splitsAllLinesOfTheField() {
        FieldSection fields = FieldSection.builder()
                .add("Vary", "a, b")
                .add("Via", "x")
                .add("vary", "")
                .add("VARY", "c")
                .build();
        ListCursor cursor = ListCursor.over(fields, FieldName.VARY);
        List<String> found = new ArrayList<>();
        while (cursor.next()) {
            found.add(text(cursor));
        }
        assertEquals(List.of("a", "b", "c"), found);
        assertFalse(cursor.next());
        assertTrue(fields.hasToken(FieldName.VARY, "C"));
        assertFalse(fields.hasToken(FieldName.VARY, "x"));
        assertFalse(ListCursor.over(fields, FieldName.AGE).next());
    }

    @Test
    void aBackslashEscapesNothingInAnEntityTag() {
        assertEquals(List.of("\"a\\\"", "W/\"b,c\""), members(true, "\"a\\\", W/\"b,c\""));
    }

    @Test
    void membersOfRandomListsComeBack() {
        Random random = new Random(SEED);
        for (int round = 0; round < 2_000; round++) {
            List<String> members = new ArrayList<>();
            StringBuilder line = new StringBuilder();
            for (int i = random.nextInt(6); i > 0; i--) {
                String member =
                        random.nextBoolean() ? "t" + i : "k=\"" + "a,\\\"\\\\ ".substring(random.nextInt(3)) + "\"";
                members.add(member);
                line.append(" ".repeat(random.nextInt(2))).append(member).append(random.nextBoolean() ? " ," : ",,");
            }
            assertEquals(members, members(false, line.toString()), "seed " + SEED + " round " + round + ": " + line);
        }
    }

    @Test
    void manyUnclosedQuotesAreReadInLinearTime() {
        // Quadratic work on this line would be 10^10 steps, so the test would not end in reasonable time.
        String line = "\"\\".repeat(100_000);
        assertEquals(1, members(false, line).size());
    }

    private static List<String> members(boolean tags, String line) {
        FieldSection fields = FieldSection.builder().add(FieldName.VARY, line).build();
        ListCursor cursor =
                tags ? ListCursor.overEntityTags(fields, FieldName.VARY) : ListCursor.over(fields, FieldName.VARY);
        List<String> found = new ArrayList<>();
        while (cursor.next()) {
            found.add(text(cursor));
        }
        return found;
    }

    private static String text(ListCursor cursor) {
        return new String(cursor.bytes(), cursor.start(), cursor.end() - cursor.start(), StandardCharsets.ISO_8859_1);
    }
}
