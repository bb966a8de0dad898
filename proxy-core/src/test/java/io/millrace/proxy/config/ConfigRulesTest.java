package io.millrace.proxy.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.problem.ConfigProblem;
import io.millrace.proxy.config.rules.RuleConfig;
import io.millrace.proxy.config.rules.RuleKeys;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.config.yaml.FlowText;
import io.millrace.proxy.geo.MmdbWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests {@code rules} in the file. */
final class ConfigRulesTest {
    private static final String GOOD = "listen: [':8080']\nremap: [{map: /, to: 'http://o/'}]\n";

    private static ConfigResult read(String text) {
        return ConfigLoader.parse(GOOD + text, "m.yaml", Map.of());
    }

    @Test
    void readsEveryKeyOfARule() {
        ConfigResult result = read("""
            rules:
              - when: path =~ "^/a"
                set_response_header: {X-A: b, X-B: [c, d]}
                add_response_header: {Link: "<x>; rel=preload"}
                remove_response_header: [Server]
                ttl: 1h
              - redirect: {to: "https://$host/", status: 308}
                when: scheme == "http"
            """);
        assertNotNull(result.config(), result::text);
        List<RuleConfig> rules = result.config().rules().general();
        assertEquals(2, rules.size());
        assertEquals("rules[0] at m.yaml:4:5", rules.get(0).toString());
        assertEquals(
                List.of("set_response_header", "add_response_header", "remove_response_header", "ttl"),
                rules.get(0).actions());
        assertEquals(1, result.config().rules().lifetimes().size());
        assertEquals("rules[0]", String.valueOf(rules.get(0).lifetime()));
        RuleConfig.Redirect redirect = rules.get(1).redirect();
        assertNotNull(redirect);
        assertEquals(308, redirect.status());
    }

    @Test
    void theExamplesOfTheGuideAreValid(@TempDir Path directory) throws IOException {
        byte[] database = new MmdbWriter(24, 4).bytes();
        Files.write(directory.resolve("GeoLite2-Country.mmdb"), database);
        Files.write(directory.resolve("GeoLite2-ASN.mmdb"), database);
        String page = Files.readString(Path.of("..", "docs", "guide", "rules.md"));
        String[] parts = page.split("```yaml\n", -1);
        assertTrue(parts.length > 10, page);
        for (int i = 1; i < parts.length; i++) {
            String example = parts[i].substring(0, parts[i].indexOf("```")).replace("/var/lib/GeoIP/", directory + "/");
            String remap = example.contains("remap:") ? "" : "remap: [{map: /, to: 'http://o/'}]\n";
            ConfigResult result = ConfigLoader.parse("listen: [':8080']\n" + remap + example, "m.yaml", Map.of());
            assertNotNull(result.config(), () -> example + result.text());
        }
    }

    /** YAML 1.1 would read the first values as Booleans and a number. */
    @ParameterizedTest
    @ValueSource(strings = {"yes", "off", "010", "1.50", "2026-11-29"})
    void aValueOfAFieldIsItsText(String value) {
        ConfigResult result = read("rules: [{set_request_header: {X-Preview: " + value + "}}]");
        assertNotNull(result.config(), result::text);
        ConfigValues rule = result.config().values().elements(RuleKeys.RULES).get(0);
        assertEquals(
                "X-Preview: " + value,
                rule.get(RuleKeys.SET_REQUEST_HEADER).toString().strip());
    }

    /** The text of a list, as {@code config get} shows it, can be set again. */
    @Test
    void theTextOfRulesReadsAsTheSameRules() {
        ConfigResult result = read("rules: [{when: 'query == \"a: b\"', set_response_header:"
                + " {X-A: '${b:c} \"d\", e', Link: [<a>, <b>]}, remove_response_header: [Via, Server]}]");
        assertNotNull(result.config(), result::text);
        String text = FlowText.of(result.config().values(), RuleKeys.RULES, 10_000);
        ConfigResult again = read("rules: " + text);
        assertNotNull(again.config(), () -> again.text() + text);
        List<ConfigValues> before = result.config().values().elements(RuleKeys.RULES);
        assertEquals(before, again.config().values().elements(RuleKeys.RULES), text);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{} | m.yaml:3:9: rules[0]: has no action; set one of set_response_header, ",
                "{when: 'a'} | rules[0]: has no action; set one of set_response_header, ",
                "{set_response_heder: {A: b}} | unknown key (did you mean set_response_header?)",
                "{when: 'sttus == 200', ttl: 1h} | m.yaml:3:10: rules[0].when: 1:1: unknown field 'sttus' (did you mean"
                        + " status?)",
                "{when: 'path = 1', ttl: 1h} | m.yaml:3:10: rules[0].when: 1:6: a single '=' (did you mean ==?)",
                "{when: 'status == 200', ttl: 1h} | rules[0].when: reads status, which is known only when the response"
                        + " is sent, but ttl acts before",
                "{when: 'cache == \"hit\"', redirect: {to: /a}} | reads cache, which is known only when the response",
                "{when: 'cookie[\"a\"] == \"b\"', ttl: 1h} | rules[0].when: reads cookie, which differs between"
                        + " clients, but ttl changes the stored response, which serves all clients",
                "{when: 'client == \"::1\"', set_request_header: {A: b}} | reads client, which differs between clients,"
                        + " but set_request_header changes the stored response, which serves all clients; add bypass:"
                        + " true to the rule",
                "{when: 'random < 10', ttl: 1h} | reads random, which differs between clients",
                "{ttl: 1h, bypass: true} | rules[0].ttl: has no effect beside bypass",
                "{redirect: {to: /a}, answer: {status: 403}} | rules[0].answer: has no effect beside redirect",
                "{redirect: {to: /a}, ttl: 1h} | rules[0].ttl: has no effect beside redirect, which ends the request",
                "{redirect: {status: 301}} | rules[0].redirect: has no key 'to' with the target URL",
                "{redirect: {to: /a, status: 303}} | rules[0].redirect.status: 303 is none of 301, 302, 307 and 308",
                "{redirect: {to: a}} | rules[0].redirect.to: 'a' is neither a URL nor a path",
                "{redirect: {to: //a}} | is neither a URL nor a path",
                "{redirect: {to: $path}} | (did you mean /$path?)",
                "{redirect: {to: 'http://a$1/'}} | lets clients choose a part of the host by $1; write a slash after",
                "{redirect: {to: 'http://$host$query'}} | lets clients choose a part of the host by $query",
                "{redirect: {to: 'http://$hots/'}} | has $hots, which is none of $0 to $9",
                "{redirect: {to: 'http://$hots/'}} | (did you mean $host?)",
                "{redirect: {to: '/$1'}} | $1 needs one comparison path =~ in when",
                "{when: 'path =~ \"a\"', redirect: {to: '/$1'}} | $1 is not a group of the expression, whose number of"
                        + " groups is 0",
                "{when: 'cookie[\"a\"] == \"b\"', set_stored_header: {A: b}} | reads cookie, which differs between"
                        + " clients, but set_stored_header changes the stored response",
                "{when: 'cache == \"hit\"', set_stored_header: {A: b}} | reads cache, which differs between the"
                        + " requests that a stored response serves, but set_stored_header changes that response",
                "{when: 'status == 200', rewrite: {path: /a}} | reads status, which is known only when the response is"
                        + " sent, but rewrite.path acts before",
                "{when: 'random < 5', rewrite: {path: /a}} | reads random, which differs between clients, but"
                        + " rewrite.path changes the stored response, which serves all clients; add bypass: true",
                "{when: 'method == \"GET\"', set_stored_header: {A: b}} | rules[0].when: reads method and can differ"
                        + " between GET and HEAD, but set_stored_header changes the stored response, which serves both;"
                        + " write method in (\"GET\", \"HEAD\"), or add bypass: true to the rule",
                "{when: 'method != \"HEAD\"', set_request_header: {A: b}} | but set_request_header changes the stored"
                        + " response, which serves both",
                "{when: 'path == \"/a\" && method == \"GET\"', rewrite: {path: /b}, ttl: 1h} | but rewrite.path changes"
                        + " the stored response, which serves both; write method in (\"GET\", \"HEAD\")",
                "{set_stored_header: {ETag: a}} | ETag: rules cannot change it",
                "{rewrite: {path: a}} | rules[0].rewrite.path: 'a' is not a path; it must begin with a slash",
                "{rewrite: {path: '/a?b'}} | '/a?b' is not a path",
                "{rewrite: {path: '/$1'}} | rules[0].rewrite.path: $1 needs one comparison path =~ in when",
                "{rewrite: {query: '$path'}} | has $path, which is only for redirect.to",
                "{rewrite: {query: 'a?b'}} | has a character that queries cannot have, or a ? or #",
                "{answer: {status: 403}, set_stored_header: {A: b}} | set_stored_header: has no effect beside answer",
                "{answer: {body: x}} | rules[0].answer: has no status",
                "{answer: {status: 204, body: x}} | rules[0].answer.body: a response with status 204 has no content",
                "{answer: {status: 100}} | is below the limit of 200",
                "{set_response_header: {Content-Length: 1}} | rules[0].set_response_header: Content-Length: rules"
                        + " cannot change it",
                "{remove_response_header: [connection]} | connection: rules cannot change it",
                "{set_request_header: {Host: a}} | Host: rules cannot change it; use pristine_host_hdr",
                "{set_request_header: {Range: a}} | Range: rules cannot change it",
                "{set_response_header: {X Y: b}} | 'X Y' is not a field name",
                "{set_response_header: {X: é}} | X: the value has the character U+00E9",
                "{set_response_header: {X: b, x: c}} | x is set twice; the first value is on line 3",
                "{set_response_header: {X: [], Y: c}} | X is an empty list",
                "{set_response_header: {X: {y: z}}} | X is a section",
                "{set_response_header: {}} | has no field; it takes",
            })
    void faultsHaveTheirPlace(String rule, String problem) {
        ConfigResult result = read("rules: [" + rule + "]");
        assertNull(result.config());
        assertTrue(result.text().contains(problem), () -> problem + "\n" + result.text());
        assertTrue(
                result.problems().stream().map(ConfigProblem::text).anyMatch(text -> text.startsWith("m.yaml:3:")),
                result::text);
    }

    @Test
    void theNumberOfRulesOfARequestIsLimited() {
        String one = "{set_response_header: {X-A: b}}, ";
        assertNotNull(read("rules: [" + one.repeat(RuleConfig.RULES_MAX) + "]").config());
        ConfigResult many = read("rules: [" + one.repeat(RuleConfig.RULES_MAX + 1) + "]");
        assertTrue(
                many.text().contains("rules[100]: with this rule 101 rules apply to one request, limit=100"),
                many::text);
        String own = "listen: [':1']\nremap: [{map: /, to: 'http://o/', rules: [" + one.repeat(60) + "]}]\nrules: ["
                + one.repeat(60) + "]";
        String text = ConfigLoader.parse(own, "m.yaml", Map.of()).text();
        assertTrue(text.contains("remap[0].rules[40]: with this rule 101 rules"), text);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ignore_query: true | param[\"a\"] == \"b\" | reads param, which cache.key can omit from keys, but ttl",
                "excluded_params: [a] | query =~ \"b\" | reads query, which cache.key can omit",
                "host: a.example | host == \"b.example\" | reads host, which cache.key can omit",
                "sorted_params: true | query =~ \"^b\" | reads query, which cache.key can omit",
            })
    void partsOfTheUrlThatKeysOmitCannotDecideAboutStoredResponses(String key, String when, String problem) {
        String text = ConfigLoader.parse(
                        "listen: [':1']\nremap: [{map: /, to: 'http://o/', cache: {key: {" + key
                                + "}}}]\nrules: [{when:" + " '" + when + "', ttl: 1h}]",
                        "m.yaml",
                        Map.of())
                .text();
        assertTrue(text.contains("rules[0].when: " + problem), text);
        assertNotNull(read("rules: [{when: '" + when + "', ttl: 1h}]").config());
    }

    /** Rules that cannot give one stored response different fields for GET and HEAD. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            value = {
                "method in (\"GET\", \"HEAD\") # set_stored_header: {A: b}",
                "(method == \"GET\" || method == \"HEAD\") && path == \"/a\" # rewrite: {path: /b}",
                "method != \"POST\" # remove_stored_header: [A]",
                "method == \"POST\" # set_request_header: {A: b}",
                "method == \"GET\" # ttl: 1h",
                "method == \"GET\" # bypass: true, set_request_header: {A: b}",
                "method == \"GET\" # set_response_header: {A: b}",
            })
    void conditionsOnTheMethodMustAdmitGetAndHeadAlike(String when, String actions) {
        ConfigResult result = read("rules: [{when: '" + when + "', " + actions + "}]");
        assertNotNull(result.config(), result::text);
    }

    @Test
    void aRewriteDoesNotUseAHostThatKeysOmit() {
        String rules = "rules: [{rewrite: {path: '/sites/$host$path'}}]";
        String text = ConfigLoader.parse(
                        "listen: [':1']\nremap: [{map: /, to: 'http://o/', cache: {key: {host: a.example}}}]\n" + rules,
                        "m.yaml",
                        Map.of())
                .text();
        assertTrue(text.contains("rules[0].rewrite.path: uses $host, but cache.key.host"), text);
        assertNotNull(read(rules).config());
    }

    @Test
    void keysOfForwardedRequestsCount() {
        String text = ConfigLoader.parse(
                        "listen: [':1']\nforward_proxy: {enabled: true, allow: [127.0.0.1]}\n"
                                + "cache: {key: {ignore_query: true}}\nrules: [{when: 'query =~ \"a\"', ttl: 1h}]",
                        "m.yaml",
                        Map.of())
                .text();
        assertTrue(text.contains("rules[0].when: reads query, which cache.key can omit"), text);
    }

    @Test
    void rulesNeedARemapRuleThatForwards() {
        String text = ConfigLoader.parse(
                        "listen: [':1']\nremap: [{redirect: 'http://a/', to: 'http://b/', rules: [{answer: {status:"
                                + " 403}}]}]",
                        "m.yaml",
                        Map.of())
                .text();
        assertTrue(text.contains("remap[0].rules: cannot be set for redirect"), text);
    }
}
