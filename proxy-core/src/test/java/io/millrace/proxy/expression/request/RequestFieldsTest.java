package io.millrace.proxy.expression.request;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.expression.ExpressionException;
import io.millrace.proxy.expression.Field;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RequestFieldsTest {
    private static final Path REFERENCE = Path.of("..", "docs", "reference", "expressions.md");

    /** The reference has a line for each field, in this order. */
    @Test
    void theReferenceNamesEveryField() throws IOException {
        String text = Files.readString(REFERENCE);
        String section =
                text.substring(text.indexOf("## Fields of requests"), text.indexOf("## Fields of stored responses"));
        List<String> rows =
                section.lines().filter(line -> line.startsWith("| `")).toList();
        List<String> expected = new ArrayList<>();
        for (Field<RequestFacts> field : RequestFields.SCHEMA.fields()) {
            String name = field.name() + (field.isKeyed() ? "[\"Name\"]" : "");
            String type = field.type().text() + (field.foldsCase() ? ", in lower case" : "");
            expected.add("| `" + name + "` | " + type + " | " + field.description() + " |");
        }
        assertEquals(expected, rows);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "client in (\"10.0.0.0/8\", \"::1\")",
                "client != \"192.0.2.1\"",
                "cookie[\"SID\"] == \"a\"",
                "request_header[\"x-a\"] =~ \"^b\" && !(time < 8h)",
                "status >= 500 || cache == \"stale\""
            })
    void theCanonicalFormParsesToAnEqualExpression(String text) throws Exception {
        Expression<RequestFacts> parsed = Expression.parse(text, RequestFields.SCHEMA);
        assertEquals(text, parsed.toString());
        assertEquals(parsed, Expression.parse(parsed.toString(), RequestFields.SCHEMA));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "client =~ \"1\" | 1:8: client is an address, which has no '=~' (operators: == != in)",
                "client == \"10.0.0.0/33\" | 1:11: client: ",
                "client in (\"::1\", \"x\") | 1:19: client: ",
                "client == 10 | 1:11: client is compared with an address or a range in quotes",
                "clinet == \"::1\" | 1:1: unknown field 'clinet' (did you mean client?)",
                "age > 1d | 1:1: unknown field 'age'",
            })
    void errorsHavePlaceAndSuggestion(String text, String error) {
        ExpressionException thrown =
                assertThrows(ExpressionException.class, () -> Expression.parse(text, RequestFields.SCHEMA));
        assertTrue(thrown.message().startsWith(error), thrown.message());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            nullValues = "-",
            value = {
                "path =~ \"a\" | a",
                "method == \"GET\" && path =~ \"a\" | a",
                "method == \"GET\" || path =~ \"a\" | -",
                "!(path =~ \"a\") | -",
                "path =~ \"a\" && path =~ \"b\" | -",
                "query =~ \"a\" | -",
            })
    void theRequiredMatchOfAPath(String text, String pattern) throws Exception {
        com.google.re2j.Pattern found =
                Expression.parse(text, RequestFields.SCHEMA).requiredMatch("path");
        assertEquals(pattern, found == null ? null : found.pattern());
    }
}
