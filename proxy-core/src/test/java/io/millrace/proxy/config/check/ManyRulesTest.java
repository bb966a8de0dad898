package io.millrace.proxy.config.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.problem.ConfigProblems;
import io.millrace.proxy.config.remap.RemapRuleConfig;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests that the work of the checks grows with the number of rules, and not with its square. Work is counted, not
 * timed.
 */
final class ManyRulesTest {
    private static final ConfigProblems.Place WHOLE = new ConfigProblems.Place("x.yaml", 0, 0);

    private static ProxyConfig config(int rules, String first, String each) {
        String remap = IntStream.range(0, rules)
                .mapToObj(i -> "- " + each.formatted(i))
                .collect(Collectors.joining("\n"));
        String text = "listen: [':1']\nremap:\n" + first + remap + "\n";
        ConfigResult result = ConfigLoader.parse(text, "x.yaml", Map.of());
        return Objects.requireNonNull(result.config(), result::text);
    }

    @Test
    void anExpressionIsComparedOnceWithEachRule() {
        ProxyConfig config = config(
                2000,
                "- {regex_map: 'http://r[a-z]+.example.com/', to: 'http://o.example/'}\n",
                "{map: 'http://h%d.example.com/', to: 'http://o.example/'}");
        RuleReachability reachability = new RuleReachability(new ConfigProblems(), WHOLE);
        reachability.check(config);
        assertEquals(2000, reachability.pairs());
    }

    @Test
    void rulesWithEqualSettingsShareThem() {
        ProxyConfig config = config(
                2,
                "- {map: 'http://own.example/', to: 'http://o.example/', cache: {max_object_size: 1KiB}}\n",
                "{map: 'http://h%d.example/', to: 'http://o.example/'}");
        List<RemapRuleConfig> rules = config.remap();
        assertSame(rules.get(1).cache(), rules.get(2).cache());
        assertSame(rules.get(1).purgeAllow(), rules.get(2).purgeAllow());
        assertNotSame(rules.get(0).cache(), rules.get(1).cache());
        ProxyConfig alike =
                config(2, "", "{map: 'http://h%d.example/', to: 'http://o/', cache: {max_object_size: 1KiB}}");
        assertSame(alike.remap().get(0).cache(), alike.remap().get(1).cache());
        assertEquals(1024, alike.remap().get(1).cache().settings().storing().maxObjectBytes());
    }

    @Test
    void expressionsAreTriedOnSoManyHostsOnly() {
        ProxyConfig config = config(1100, "", "{regex_map: 'http://r%d[a-z]+.example.com/', to: 'http://o.example/'}");
        MappedUrls urls = new MappedUrls(config.remap(), Set.of());
        assertFalse(urls.isMapped("none.example", null));
        assertEquals(1100, urls.tries());
        for (int i = 0; i < 1000; i++) {
            urls.isMapped("none.example", null);
        }
        assertTrue(urls.isMapped("none.example", null), "not known any more, so nothing is said of it");
        assertTrue(urls.tries() <= MappedUrls.TRIES_MAX + 1001L, () -> urls.tries() + " tries");
    }

    @ParameterizedTest
    @CsvSource(nullValues = "-", textBlock = """
            a.example,     -,         -,          true
            a.example,     -,         /a/b/c,     true
            a.example,     -,         /a,         true
            a.example,     -,         /a/b0,      true
            a.example,     -,         /a/z,       false
            a.example,     -,         /b,         false
            b.example,     -,         -,          false
            r1.example,    -,         /r/x,       true
            r1.example,    -,         /a,         false
            rx.example,    -,         -,          false
            -,             example,   /a/b/x,     true
            -,             example,   /c,         true
            -,             a.example, /c,         false
            -,             other,     -,          true
            -,             .,         /c,         true
            -,             -,         /d,         false
            """)
    void tellsIfRequestsAreMapped(String host, String domain, String prefix, boolean mapped) {
        ProxyConfig config = ConfigLoader.parse("""
                        listen: [":1"]
                        remap:
                        - {map: "http://a.example/a/b", to: "http://o.example/"}
                        - {map: "http://a.example/a/%62/c/", to: "http://o.example/"}
                        - {map: "http://a.example/a/b0/", to: "http://o.example/"}
                        - {map: "http://c.example/c", to: "http://o.example/"}
                        - {redirect: "http://b.example/", to: "http://o.example/"}
                        - {regex_map: "http://r[0-9].example/r/", to: "http://o.example/"}
                        """, "x.yaml", Map.of()).config();
        MappedUrls urls =
                new MappedUrls(Objects.requireNonNull(config).remap(), Set.of("example", "a.example", "other"));
        assertEquals(mapped, urls.isMapped(host, domain, prefix));
    }

    /** A file may have 100,000 names and as many that do not exist. */
    @Test
    void theSearchForSuggestionsEnds() {
        ConfigProblems problems = new ConfigProblems();
        Set<String> names = new HashSet<>();
        for (int i = 0; i < 100_000; i++) {
            names.add("name" + i);
        }
        int found = 0;
        while (problems.closest("name12345x", names) != null) {
            found++;
        }
        assertTrue(found > 0 && found < 20, found + " searches");
        assertNull(new ConfigProblems().closest("something else", Set.of("name")));
    }
}
