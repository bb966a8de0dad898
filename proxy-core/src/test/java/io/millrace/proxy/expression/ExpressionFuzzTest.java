package io.millrace.proxy.expression;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.millrace.proxy.FuzzInputs;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Fuzz test with arbitrary texts. The parser throws only its own exception, with a position in the text. An expression
 * can be evaluated, and its canonical form parses to an equal one.
 */
class ExpressionFuzzTest {
    private static final int LENGTH_MAX = 2048;

    @FuzzTest(maxDuration = "30s")
    void textsAreParsedOrRefused(byte[] bytes) {
        if (bytes.length <= LENGTH_MAX) {
            check(new String(bytes, StandardCharsets.UTF_8));
        }
    }

    /** Runs the stored inputs. */
    @TestFactory
    Stream<DynamicTest> keptInputsAreParsedOrRefused() throws IOException {
        return FuzzInputs.of(getClass(), "textsAreParsedOrRefused").entrySet().stream()
                .map(input -> DynamicTest.dynamicTest(
                        input.getKey(), () -> check(new String(input.getValue(), StandardCharsets.UTF_8))));
    }

    private static void check(String text) {
        Expression<Page> expression;
        try {
            expression = Expression.parse(text, Page.SCHEMA);
        } catch (ExpressionException e) {
            String[] lines = text.split("\n", -1);
            assertTrue(e.line() >= 1 && e.line() <= lines.length, e.message());
            assertTrue(e.column() >= 1 && e.column() <= lines[e.line() - 1].length() + 1, e.message());
            return;
        }
        boolean sample = expression.test(Page.SAMPLE);
        boolean bare = expression.test(Page.BARE);
        Expression<Page> again;
        try {
            again = Expression.parse(expression.toString(), Page.SCHEMA);
        } catch (ExpressionException e) {
            throw new AssertionError("the canonical form is refused: " + expression, e);
        }
        assertEquals(expression, again);
        assertEquals(expression.toString(), again.toString());
        assertEquals(sample, again.test(Page.SAMPLE));
        assertEquals(bare, again.test(Page.BARE));
    }
}
