package io.millrace.proxy.expression.stored;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.expression.Field;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StoredFieldsTest {
    private static final Path REFERENCE = Path.of("..", "docs", "reference", "expressions.md");

    /** The reference has a line for each field, in this order. */
    @Test
    void theReferenceNamesEveryField() throws IOException {
        String text = Files.readString(REFERENCE);
        String section = text.substring(
                text.indexOf("## Fields of stored responses"), text.indexOf("## Fields of finished requests"));
        List<String> rows =
                section.lines().filter(line -> line.startsWith("| `")).toList();
        List<String> expected = new ArrayList<>();
        for (Field<StoredFacts> field : StoredFields.LISTED.fields()) {
            expected.add(row(field));
        }
        for (Field<StoredFacts> field : StoredFields.PURGED.fields()) {
            if (!expected.contains(row(field))) {
                expected.add(row(field));
            }
        }
        assertEquals(expected, rows);
    }

    private static String row(Field<?> field) {
        String name = field.name() + (field.isKeyed() ? "[\"Name\"]" : "");
        return "| `" + name + "` | " + type(field) + " | " + field.description() + " |";
    }

    private static String type(Field<?> field) {
        return field.type().text() + (field.foldsCase() ? ", in lower case" : "");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            emptyValue = "",
            value = {
                "http://a.example/b/c?d=e?f | http | a.example | /b/c | d=e?f",
                "https://a.example:8443/ | https | a.example:8443 | / | ''",
                "http://[::1]:81/a? | http | [::1]:81 | /a | ''",
                "http://a.example?q | http | a.example | '' | q",
                "/a?q | '' | '' | /a | q"
            })
    void partsOfAUrl(String text, String scheme, String host, String path, String query) {
        StoredUrl url = StoredUrl.of(text);
        assertEquals(List.of(scheme, host, path, query), List.of(url.scheme(), url.host(), url.path(), url.query()));
    }

    /** Additions of a rule follow a space, a variant's selecting fields follow a NUL. */
    @Test
    void urlOfAKey() {
        for (String rest : List.of("", " device=phone", "\0\1\2", " device=phone\0\1")) {
            byte[] key = ("http://a.example/b" + rest).getBytes(StandardCharsets.ISO_8859_1);
            assertEquals("http://a.example/b", StoredUrl.ofKey(key).text());
        }
    }
}
