package io.millrace.proxy.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.millrace.proxy.caching.KeyRules;
import io.millrace.proxy.config.problem.ConfigProblem;
import io.millrace.proxy.config.remap.RemapRuleConfig;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests the settings of cache keys in the file. */
final class ConfigCacheKeyTest {
    private static final String GOOD = """
            listen: [":8080"]
            remap:
              - map: /
                to: http://127.0.0.1:9000
            """;

    @Test
    void reportsUnsupportedPartsOfACacheKey() {
        assertEquals(
                List.of(
                        "millrace.yaml:7:5: cache.key.ingore_query: unknown key (did you mean ignore_query?)",
                        "millrace.yaml:8:22: cache.key.included_params: 'a*b' has a * before its end (did you mean a*?)",
                        "millrace.yaml:9:22: cache.key.excluded_params: 'a=1' is not the name of a parameter, which"
                                + " cannot contain &, = or ?",
                        "millrace.yaml:10:11: cache.key.host: the host 'a b' contains ' '",
                        "millrace.yaml:11:13: cache.key.fields: 'a b' is not a field name",
                        "millrace.yaml:12:14: cache.key.cookies: 'a;b' is not the name of a cookie",
                        "millrace.yaml:13:17: cache.key.generation: -2 is below the limit of -1"),
                bad(GOOD + """
                        cache:
                          key:
                            ingore_query: true
                            included_params: [a*b]
                            excluded_params: [a=1]
                            host: a b
                            fields: [a b]
                            cookies: [a;b]
                            generation: -2
                        """));
    }

    @Test
    void warnsOfKeysThatDoNothingOrLeaveTheOriginsAnswerToOneClient() {
        assertEquals(
                List.of(
                        "millrace.yaml:7:5: warning: cache.key.sorted_params: has no effect together with ignore_query",
                        "millrace.yaml:8:5: warning: cache.key.send_whole_query: lets one client change the response for other clients, if"
                                + " a response depends on the part of the query that keys omit"),
                warnings(GOOD + """
                        cache:
                          key:
                            sorted_params: true
                            send_whole_query: true
                            ignore_query: true
                        """));
    }

    @Test
    void responsesAreDistinguishedByNoMoreNamesThanAHeadHolds() {
        String cookies = IntStream.range(0, 30).mapToObj(i -> "c" + i).collect(Collectors.joining(", "));
        String most = GOOD + "cache: {key: {fields: [X-A, X-B], cookies: [" + cookies + "]}}\n";
        assertEquals(
                32, good(most).cache().settings().key().selectors().selectors().size());
        assertEquals(
                List.of("millrace.yaml:5:38: cache.key.cookies: with both, cache.key.fields and cache.key.cookies,"
                        + " responses are distinguished by 33 names; the limit is 32"),
                bad(most.replace("X-B]", "X-B, Y]")));
    }

    @Test
    void keysOfARuleStandOverTheGeneralOnes() {
        RemapRuleConfig rule = good("""
                listen: [":8080"]
                remap:
                  - map: /
                    to: http://127.0.0.1:9000
                    cache: {key: {excluded_params: [], generation: 2}}
                cache: {key: {excluded_params: ["utm_*"], fields: [X-Device], generation: 1}}
                """).remap().get(0);
        KeyRules key = rule.cache().settings().key();
        assertEquals(List.of(), key.query().excluded());
        assertEquals(2, key.generation());
        assertEquals("X-Device", key.selectors().toString());
    }

    private static ProxyConfig good(String text) {
        ConfigResult result = ConfigLoader.parse(text, "millrace.yaml", Map.of());
        assertEquals("", result.text());
        return Objects.requireNonNull(result.config());
    }

    private static List<String> bad(String text) {
        ConfigResult result = ConfigLoader.parse(text, "millrace.yaml", Map.of());
        assertNull(result.config());
        return texts(result);
    }

    private static List<String> warnings(String text) {
        ConfigResult result = ConfigLoader.parse(text, "millrace.yaml", Map.of());
        assertNotNull(result.config());
        return texts(result);
    }

    private static List<String> texts(ConfigResult result) {
        return result.problems().stream().map(ConfigProblem::text).toList();
    }
}
