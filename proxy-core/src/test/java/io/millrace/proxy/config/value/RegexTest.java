package io.millrace.proxy.config.value;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests which external expressions are compiled, and which are refused before they cause work. */
final class RegexTest {
    private static final String GOOD = """
            listen: [":8080"]
            remap:
              - {map: http://a.example/, to: http://127.0.0.1:9000}
            """;

    /** Each of these exhausts time or memory when compiled. */
    static final List<String> TOO_LARGE = List.of(
            "(((((((((a{9}){9}){9}){9}){9}){9}){9}){9}){9})",
            "(?:(?:(?:a{1000}){1000}){1000}){1000}",
            "(?:(?:){1000}){1000}",
            "(?:(?:^*){900}){900}",
            "((a{2,}){999,}){999,}",
            "(\\Q{9}\\E{1000}[]{9}]{1000}\\x{41}{1000}\\pL{1000}){9}",
            "(?P<name>(?i:a?){1000}){1000}",
            "(?:a?){900}(?:a?){900}(?:a?){900}(?:a?){900}(?:a?){900}",
            "(".repeat(101) + "a" + ")".repeat(101),
            "(".repeat(60_000),
            "a".repeat(70_000));

    @Test
    void rejectsTooLargeExpressions() {
        for (String text : TOO_LARGE) {
            PatternSyntaxException e =
                    assertThrows(PatternSyntaxException.class, () -> Regex.compile(text), Regex.shown(text));
            assertTrue(e.getDescription().contains("the limit is "), e.getDescription());
            assertTrue(e.getMessage().length() < 400, e.getMessage());
        }
    }

    /** The estimate is never below the size of the compiled program; otherwise the limit could be exceeded. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "a",
                "abc|de|f",
                "^(.*\\.)?example\\.(com|org)$",
                "a{9}",
                "(a{2,5}b{0,3}){4}",
                "(?:ab){3,}",
                "(?:ab){0}c",
                "(?:){1000}",
                "(?:^*){500}",
                "\\Qa{9}(\\Ec{3}",
                "\\x{10FFFF}{5}\\x41{5}",
                "[]{9}a]{3}[^]x]{4}[[:alpha:]\\]]{7}",
                "\\pL{100}\\p{Greek}{10}\\PN{3}",
                "(?P<name>a(?i)b{4}(?i:c){5}){9}",
                "a{,3}b{x}{1}c{",
                "\\bx\\B\\A{3}",
                "(a|b|c|d){20}",
                "(((x*)+)?){10}",
                "a*?b+?c??d{3}?",
                "|||",
                "(?:a|(b|)){7}"
            })
    void estimatesNoLessThanTheProgram(String text) {
        int program = Pattern.compile(text).programSize();
        int estimate = Regex.steps(text);
        assertTrue(estimate >= program, text + ": " + estimate + " is below " + program);
        assertTrue(estimate <= 5 * program + 20, text + ": " + estimate + " is far above " + program);
        assertEquals(text, Regex.compile(text).pattern());
    }

    @Test
    void namesThePlaceOfAnExpressionInEveryKey() {
        String bomb = TOO_LARGE.get(0);
        for (String yaml : List.of(
                GOOD + "cache_rules:\n  - {url_regex: \"%s\", action: never_cache}\n",
                GOOD + "cache_rules:\n  - {host_regex: \"%s\", action: never_cache}\n",
                GOOD + "  - {regex_map: \"http://%s/\", to: http://127.0.0.1:9000}\n",
                GOOD + "  - {regex_redirect: \"http://%s/\", to: http://127.0.0.1:9000}\n",
                GOOD + "  - {map_with_referer: http://b.example/, to: http://127.0.0.1:9000,"
                        + " referers: \"%s\", referer_redirect: /no}\n")) {
            ConfigResult result = load(String.format(yaml, bomb));
            assertNull(result.config());
            String text = result.problems().get(0).text();
            assertTrue(text.matches("(?s)test\\.yaml:[45]:\\d+: .*[0-9]+ steps.*limit is 20000.*"), text);
        }
    }

    @Test
    void boundsAllExpressionsOfAConfigurationTogether() {
        StringBuilder rules = new StringBuilder(GOOD).append("cache_rules:\n");
        rules.append("  - {url_regex: \"(?:abcdefghi){1000}\", action: never_cache}\n".repeat(120));
        ConfigResult result = load(rules.toString());
        assertNull(result.config());
        assertEquals(1, result.problems().size());
        String text = result.problems().get(0).text();
        assertTrue(text.contains("limit=1000000"), text);
        assertTrue(text.startsWith("test.yaml:95:5: cache_rules[90]"), text);
    }

    @Test
    void takesLongRangesThatPeopleWrite() {
        ConfigResult result =
                load(GOOD + "cache_rules:\n  - {url_regex: \"^[a-z0-9-]{1,255}$\", action: never_cache}\n");
        assertNotNull(result.config(), () -> result.problems().toString());
    }

    private static ConfigResult load(String text) {
        return ConfigLoader.parse(text, "test.yaml", Map.of());
    }
}
