package io.millrace.proxy.purge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import com.google.re2j.Pattern;
import io.millrace.proxy.caching.tags.TagList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Expressions that only list tags, and those that do not. */
class TagExpressionTest {
    private static final List<String> TAGS =
            List.of("a", "b", "a.b", "a-b", "cat_p_1", "cat_p_12", "node:1", "x", "(a)");

    /** The expression matches a tag in a list with commas exactly if it lists this tag. */
    @ParameterizedTest
    @CsvSource(
            delimiterString = " => ",
            value = {
                "((^|,)cat_p_1(,|$)) => cat_p_1",
                "((^|,)cat_p_1(,|$))|((^|,)a(,|$)) => cat_p_1 a",
                "(^|,)(a|b)(,|$) => a b",
                "((^|,)(a|b)(,|$)) => a b",
                "(^|\\,)a($|\\,) => a",
                "(?:^|,)node:1(?:,|$) => node:1",
                "(^|,)(a\\.b|a\\-b|\\(a\\))(,|$) => a.b a-b (a)",
                "(^|,)a(,|$)|(^|,)x(,|$) => a x",
            })
    void listsOfTags(String expression, String expected) {
        TagList list = TagExpression.tags(expression, false);
        assertNotNull(list);
        List<String> tags = list.tags().texts();
        assertEquals(List.of(expected.split(" ", -1)), tags);
        Pattern pattern = Pattern.compile(expression);
        for (String tag : TAGS) {
            for (String field : List.of(tag, "first," + tag, tag + ",last", "first," + tag + ",last")) {
                assertEquals(tags.contains(tag), pattern.matcher(field).find(), field);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a",
                "a|b",
                "(^|,)a",
                "a(,|$)",
                "(^|,)(,|$)",
                "(^|,)()(,|$)",
                "(^|,)(a|)(,|$)",
                "(^|,)a.b(,|$)",
                "(^|,)a\\d(,|$)",
                "(^|,)a\\,b(,|$)",
                "(^|,)a b(,|$)",
                "(^|,)a,b(,|$)",
                "(^|,)a+(,|$)",
                "(^|,)(a|b(,|$)",
                "(^|,)(a)|(b)(,|$)",
                "((^|,)a(,|$)",
                "(^|,)a(,|$)|",
                "|(^|,)a(,|$)",
                "(^|,)a(,|$)|.*",
                "(^|,)a(,|$)x",
                "(?i)(^|,)a(,|$)",
                "(^|,)a\\",
                "",
            })
    void otherExpressions(String expression) {
        assertNull(TagExpression.tags(expression, false));
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = " => ",
            value = {
                "node:1 => node:1",
                "node:1 node:2 => node:1 node:2",
                "node:1|node:2 => node:1 node:2",
                "| node:1 |  node:2 | => node:1 node:2",
                "config:views.view.x a => config:views.view.x a",
                "(^|,)(a|b)(,|$) => a b",
            })
    void words(String field, String expected) {
        TagList list = TagExpression.tags(field, true);
        assertNotNull(list);
        assertEquals(List.of(expected.split(" ", -1)), list.tags().texts());
    }

    @ParameterizedTest
    @ValueSource(strings = {".*", ".", "a .* b", "^node", "a$", "node:[12]", "a,b", "a\\|b", " | "})
    void fieldsThatAreNoWords(String field) {
        assertNull(TagExpression.tags(field, true));
    }

    @Test
    void limitsOfTagsHold() {
        TagList list = TagExpression.tags("(^|,)" + "a".repeat(1025) + "(,|$)", false);
        assertNotNull(list);
        assertEquals("length of a tag in bytes: actual=1025, limit=1024", list.problem());
    }
}
