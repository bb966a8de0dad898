package io.millrace.launcher.squid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the conditions of rules for expressions of URLs. */
final class UrlConditionTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "(?i)(/cgi-bin/|\\?); (path =~ \"(?i)(?:/|%2F)cgi-bin(?:/|%2F)\" || query =~ \".\")",
                "\\?; query =~ \".\"",
                "\\.m3u8$; ((path =~ \"(?:\\\\.|%2E)m3u8$\" && query == \"\") || query =~ \"\\\\.m3u8$\")",
                "/live/; (path =~ \"(?:/|%2F)live(?:/|%2F)\" || query =~ \"/live/\")",
                "live; (path =~ \"live\" || query =~ \"live\" || host =~ \"live\")"
            })
    void expressionsBecomeConditions(String expression, String expected) {
        assertEquals(expected, UrlCondition.of(expression));
    }

    @ParameterizedTest
    @ValueSource(strings = {"^http://a/", "a:80", "/a\\?b", "a$|b$", "a.*b", "/a[^.]+b", "a\\.example/b"})
    void expressionsThatSpanPartsHaveNone(String expression) {
        assertNull(UrlCondition.of(expression));
    }
}
