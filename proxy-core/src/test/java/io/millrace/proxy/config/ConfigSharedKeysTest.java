package io.millrace.proxy.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.millrace.proxy.config.problem.ConfigProblem;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the check of remap rules that share stored responses by {@code cache.key.host}. */
final class ConfigSharedKeysTest {
    private static final String ADD = "rules: [{set_stored_header: {A: b}}]";

    private static ConfigResult read(String... rules) {
        StringBuilder text = new StringBuilder("listen: [':1']\ncache: {key: {host: k.example}}\nremap:\n");
        for (String rule : rules) {
            text.append("  - {").append(rule).append("}\n");
        }
        return ConfigLoader.parse(text.toString(), "m.yaml", Map.of());
    }

    private static List<String> problems(String... rules) {
        return read(rules).problems().stream().map(ConfigProblem::text).toList();
    }

    private static String message(int own, int other, String place) {
        return "changes responses that remap[" + own + "] shares with remap[" + other + "] (" + place
                + ") by cache.key.host, but remap[" + other
                + "] has other rules; write the same rules in both, or set another cache.key.host";
    }

    @Test
    void theErrorNamesBothPlaces() {
        String a = "map: 'http://a.example/', to: 'http://o/'";
        String b = "map: 'http://b.example/', to: 'http://o/'";
        assertEquals(
                List.of("m.yaml:5:57: remap[1].rules[0]: " + message(1, 0, "m.yaml:4:5")), problems(a, b + ", " + ADD));
        assertEquals(
                List.of("m.yaml:4:57: remap[0].rules[0]: " + message(0, 1, "m.yaml:5:5")), problems(a + ", " + ADD, b));
        String more = "rules: [{set_response_header: {C: d}}, {set_stored_header: {A: b}}, {ttl: 1h}]";
        assertEquals(
                List.of("m.yaml:5:117: remap[1].rules[2]: " + message(1, 0, "m.yaml:4:5")),
                problems(a + ", " + ADD, b + ", " + more));
    }

    /** Each with two rules that share no responses, or change them alike. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            quoteCharacter = '`',
            value = {
                "map: 'http://a/', to: 'http://o/', rules: [{ttl: 1h}] # map: 'http://b/', to: 'http://o/', rules:"
                        + " [{ttl: 60m}, {set_response_header: {A: b}}]",
                "map: 'http://a/', to: 'http://o/', rules: [{ttl: 1h}] # map: 'http://b/', to: 'http://p/'",
                "map: 'http://a/', to: 'http://o/', rules: [{ttl: 1h}] # map: 'http://b/c', to: 'http://o/'",
                "map: 'http://a/', to: 'http://o/', rules: [{ttl: 1h}] # map: 'https://b/', to: 'http://o/'",
                "map: 'http://a:1/', to: 'http://o/', rules: [{ttl: 1h}] # map: 'http://b:2/', to: 'http://o/'",
                "map: 'http://a/', to: 'http://o/', rules: [{ttl: 1h}] # map: 'http://b/', to: 'http://o/', cache:"
                        + " {key: {host: l.example}}",
                "map: 'http://a/', to: 'http://o/', rules: [{ttl: 1h}] # map: 'http://b/', to: 'http://o/', cache:"
                        + " {key: {generation: 1}}",
                "map: 'http://a/', to: 'http://o/', rules: [{ttl: 1h}] # map: 'http://b/', to: 'http://o/', cache:"
                        + " {enabled: false}",
                "map: 'http://a/', to: 'http://o/', rules: [{ttl: 1h}] # map: 'http://b/', to: 'http://o/',"
                        + " pristine_host_hdr: true",
                "map: 'http://a/', to: 'http://o/', rules: [{bypass: true, set_request_header: {A: b}}] #"
                        + " map: 'http://b/', to: 'http://o/'",
                "map: 'http://a/', to: 'http://o/', rules: [{set_response_header: {A: b}}] #"
                        + " map: 'http://b/', to: 'http://o/'",
                "map: 'http://a/', to: 'http://o/', rules: [{ttl: 1h}] # redirect: 'http://b/', to: 'http://o/'",
                "regex_map: 'http://(.*)[.]a/', to: 'http://$1.x/', rules: [{ttl: 1h}] # map: 'http://b/', to:"
                        + " 'http://c.y/'",
                "regex_map: 'http://(.*)[.]a/', to: 'http://$1.x/', rules: [{ttl: 1h}] # regex_map:"
                        + " 'http://(.*)[.]b/', to: 'http://$1.y/'",
            })
    void otherRulesAreIndependent(String one, String other) {
        ConfigResult result = read(one, other);
        assertNotNull(result.config(), result::text);
    }

    /** Each with two rules that share responses but change them differently; the first rule has the error. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            quoteCharacter = '`',
            value = {
                "map: /, to: 'http://o/', rules: [{ttl: 1h}] # map: 'https://b/', to: 'http://o/'",
                "map: 'http://a/', to: 'http://o/', rules: [{rewrite: {path: /c}}] # map: 'http://b:8080/', to:"
                        + " 'http://o/'",
                "map: 'http://a/', to: 'http://o/', rules: [{when: 'path == \"/a\"', ttl: 1h}] # map: 'http://b/', to:"
                        + " 'http://o/', rules: [{when: 'path == \"/b\"', ttl: 1h}]",
                "map: 'http://a/', to: 'http://o/', rules: [{remove_request_header: [A]}] # map: 'http://b/', to:"
                        + " 'http://o/', rules: [{remove_request_header: [B]}]",
                "regex_map: 'http://(.*)[.]a/', to: 'http://$1.x/', rules: [{ttl: 1h}] # map: 'http://b/', to:"
                        + " 'http://c.x/'",
                "regex_map: 'http://(.*)[.]a/', to: 'http://$1.x/', rules: [{ttl: 1h}] # regex_map:"
                        + " 'http://b(.*)[.]c/', to: 'http://b$1.x/'",
            })
    void rulesThatDifferAreFound(String one, String other) {
        List<String> found = problems(one, other);
        assertEquals(1, found.size(), found::toString);
        assertEquals(
                1,
                found.stream()
                        .filter(text -> text.contains(".rules[0]: changes responses that remap["))
                        .count(),
                found::toString);
    }
}
