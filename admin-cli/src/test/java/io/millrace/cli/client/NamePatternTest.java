package io.millrace.cli.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class NamePatternTest {
    private static String refused(String expression) {
        return assertThrows(IllegalArgumentException.class, () -> NamePattern.of(expression))
                .getMessage();
    }

    @Test
    void findsAnywhereInTheText() {
        assertTrue(NamePattern.of("b+").isFoundIn("abba"));
        assertFalse(NamePattern.of("^b").isFoundIn("abba"));
    }

    @Test
    void takesExpressionsUpToTheLimitOfLength() {
        assertTrue(NamePattern.of("x".repeat(NamePattern.LENGTH_MAX)).isFoundIn("x".repeat(NamePattern.LENGTH_MAX)));
        assertEquals(
                "the expression has 65537 characters, the limit is 65536",
                refused("x".repeat(NamePattern.LENGTH_MAX + 1)));
    }

    @Test
    void saysWhereAnExpressionIsWrongAndQuotesItsBeginning() {
        assertTrue(refused("a[").startsWith("not a regular expression: a[ ("), refused("a["));
        String said = refused("[" + "x".repeat(60_000));
        assertTrue(said.contains("xxx...") && said.length() < NamePattern.QUOTED_MAX + 100, said);
    }

    @Test
    void refusesGroupsThatAreNestedTooDeeply() {
        assertEquals(
                "the groups of the expression are nested too deeply", refused("(".repeat(30_000) + ")".repeat(30_000)));
    }

    @Test
    void endsASearchThatLooksTooOften() {
        NamePattern nested = NamePattern.of("(x+x+)+y");
        String said = assertThrows(IllegalArgumentException.class, () -> nested.isFoundIn("x".repeat(5000)))
                .getMessage();
        assertTrue(said.contains("more than 50000000 steps") || said.contains("too much stack for a text"), said);
    }

    @Test
    void refusesATextTooLongForARepeatedGroup() {
        NamePattern repeated = NamePattern.of("^(a|b)*$");
        String said = assertThrows(IllegalArgumentException.class, () -> repeated.isFoundIn("ab".repeat(2_000_000)))
                .getMessage();
        assertTrue(said.contains("too much stack for a text of 4000000 characters"), said);
    }
}
