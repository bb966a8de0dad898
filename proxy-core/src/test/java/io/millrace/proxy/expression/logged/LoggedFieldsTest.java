package io.millrace.proxy.expression.logged;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
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

class LoggedFieldsTest {
    private static final Path REFERENCE = Path.of("..", "docs", "reference", "expressions.md");

    /** The reference has a line for each field, in this order. */
    @Test
    void theReferenceNamesEveryField() throws IOException {
        String text = Files.readString(REFERENCE);
        String section = text.substring(text.indexOf("## Fields of finished requests"), text.indexOf("## Limits"));
        List<String> expected = new ArrayList<>();
        for (Field<LoggedFacts> field : LoggedFields.SCHEMA.fields()) {
            expected.add("| `" + field.name() + "` | " + field.type().text()
                    + (field.foldsCase() ? ", in lower case" : "") + " | " + field.description() + " |");
        }
        assertEquals(
                expected, section.lines().filter(line -> line.startsWith("| `")).toList());
    }

    @Test
    void anExpressionKnowsIfItNeedsTheTextsOfTls() throws ExpressionException {
        assertTrue(namesTls("!(status == 200 || sni == \"a.example\")"));
        assertTrue(namesTls("method == \"GET\" && tls =~ \"1.3\""));
        assertFalse(namesTls("status in (200, 304) && duration > 1s && bytes > 10M"));
    }

    private static boolean namesTls(String text) throws ExpressionException {
        return Expression.parse(text, LoggedFields.SCHEMA).names(LoggedFields::isOfTls);
    }
}
