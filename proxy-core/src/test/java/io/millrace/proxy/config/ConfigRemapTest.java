package io.millrace.proxy.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.problem.ConfigProblem;
import io.millrace.proxy.config.remap.RemapRuleConfig;
import io.millrace.proxy.config.value.RemapVerb;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the kinds of rules in the file: their problems, and rules that can never match. */
final class ConfigRemapTest {
    private static final String HEAD = "listen: [':8080', ':9000']\nremap:\n";

    private static List<String> problems(String rules) {
        return ConfigLoader.parse(HEAD + rules, "t.yaml", Map.of()).problems().stream()
                .map(ConfigProblem::toString)
                .toList();
    }

    private static String lines(String text) {
        StringBuilder yaml = new StringBuilder();
        for (String rule : text.split(" ; ", -1)) {
            String[] words = rule.split(" ", 3);
            yaml.append("  - ").append(words[0]).append(": '").append(words[1]).append("'\n    to: '");
            yaml.append(words[2].replace(", ", "'\n    ").replaceFirst("'\n    ", "'\n    "));
            yaml.append(words[2].contains(", ") ? "\n" : "'\n");
        }
        return yaml.toString();
    }

    @Test
    void everyKindIsRead() {
        StringBuilder yaml = new StringBuilder();
        for (int i = 0; i < RemapVerb.all().size(); i++) {
            String word = RemapVerb.all().get(i).word();
            yaml.append("  - ").append(word).append(": http://").append(i).append(":9000/\n    to: http://o\n");
            if (word.equals("map_with_referer")) {
                yaml.append("    referers: ['a{1,2}', '~b']\n    referer_redirect: /no\n");
            }
        }
        ConfigResult result = ConfigLoader.parse(HEAD + yaml, "t.yaml", Map.of());
        assertEquals("", result.text());
        ProxyConfig config = result.config();
        for (RemapRuleConfig rule : config.remap()) {
            assertEquals(RemapVerb.all().get(rule.index()), rule.verb());
            assertEquals(String.valueOf(rule.index()), rule.from().host());
        }
        assertEquals("regex_map http://1:9000/ http://o/", config.remap().get(1).toString());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "map http://a/ http://o, redirect: http://b/ | 5:5: remap[0].redirect: a rule has only one kind, and this rule already has map",
                "map ws://a/ http://o | 4:5: remap[0].to: 'http://o/' must be ws or wss, because the rule is for ws",
                "map http://a/ wss://o | 4:5: remap[0].to: 'wss://o/' is only for rules that begin with ws or wss",
                "map / ws://o | 4:5: remap[0].to: 'ws://o/' is only for rules that begin with ws or wss",
                "redirect ws://a/ ws://o | 3:5: remap[0].redirect: must be http or https; ws and wss are for map and regex_map",
                "map http://a/ http://o, upgrade: [h2c] | 5:14: remap[0].upgrade: 'h2c' is not allowed: its requests would bypass every rule",
                "map http://a/ http://o, upgrade: [web/socket] | 5:14: remap[0].upgrade: 'web/socket' is not the name of a protocol",
                "redirect http://a/ http://o, upgrade: [websocket] | 5:5: remap[0].upgrade: cannot be set for redirect, which sends no requests to an origin",
                "redirect http://a/ http://o, status: 307 | 5:5: remap[0].status: 307 is not a status of redirect, which has 301 or 308",
                "redirect_temporary http://a/ http://o, status: 308 | 5:5: remap[0].status: 308 is not a status of redirect_temporary, which has 307 or 302",
                "map http://a/ http://o, status: 301 | 5:5: remap[0].status: is only for redirections, and cannot be set for map",
                "redirect http://a/ http://o, status: 300 | 5:13: remap[0].status: 300 is below the limit of 301",
                "redirect http://a/ http://o, pristine_host_hdr: true | 5:5: remap[0].pristine_host_hdr: cannot be set for redirect, which sends no requests to an origin",
                "regex_map http://([a-z/ http://o | 3:16: remap[0].regex_map: '([a-z' is not a regular expression: missing closing ]",
                "regex_map http://(.)(.)(.)(.)(.)(.)(.)(.)(.)(.)/ http://o | 3:16: remap[0].regex_map: '(.)(.)(.)(.)(.)(.)(.)(.)(.)(.)' has 10 groups; the limit is 9; (?:...) does not count as a group",
                "regex_map http:///p http://o | 3:16: remap[0].regex_map: 'http:///p' has no host",
                "regex_map /p http://o | 3:16: remap[0].regex_map: '/p' is not a URL such as http://host/path",
                "regex_map http://(.*)/ http://$2.o | 4:5: remap[0].to: $2 is not a group of the expression, whose number of groups is 1",
                "regex_map http://(.*)/ http://o/$7 | 4:5: remap[0].to: $7 is not a group of the expression, whose number of groups is 1",
                "map http://a/ http://$1.o | 4:5: remap[0].to: 'http://$1.o/' has a $ in its host, but map has no expression",
                "map_with_recv_port http://a/ http://o | 3:5: remap[0].map_with_recv_port: must name the port that requests arrive on",
                "map_with_referer http://a/ http://o, referers: [a] | 3:5: remap[0].referer_redirect: missing; map_with_referer needs a URL to which refused requests are redirected",
                "map_with_referer http://a/ http://o, referer_redirect: /no | 3:5: remap[0].referers: missing; map_with_referer needs expressions that are matched against Referer",
                "map_with_referer http://a/ http://o, referer_redirect: /no, referers: '~*' | 6:15: remap[0].referers: '~*' permits only requests without Referer; add an expression, or use map",
                "map_with_referer http://a/ http://o, referer_redirect: /no, referers: ['(' ,b] | 6:15: remap[0].referers: '(' is not a regular expression: missing closing )",
                "map_with_referer http://a/ http://o, referers: b, referer_redirect: no | 6:23: remap[0].referer_redirect: 'no' is neither a URL such as http://host/path nor a path",
                "map_with_referer http://a/ http://o, referers: b, referer_redirect: /%x | 6:23: remap[0].referer_redirect: '/%x' has a % that begins no code (%r, %f, %t, %o) and no percent-encoding (did you mean %25?)",
                "map http://a/ http://o, referers: [a] | 5:5: remap[0].referers: is only for map_with_referer, and cannot be set for map",
                "map http://a/ http://o, rewrite_set_cookie: true | 5:5: remap[0].rewrite_set_cookie: is only for reverse_map, and cannot be set for map",
                "reverse_map / http://o | 3:5: remap[0].reverse_map: must name the origin's host",
                "reverse_map http://a/ http://o, methods: [GET] | 5:5: remap[0].methods: cannot be set for reverse_map, which sends no requests to an origin",
                "redirect http://$1/ http://o | 3:15: remap[0].redirect: the host '$1' contains '$'"
            })
    void reportsInvalidRules(String rule, String expected) {
        assertEquals(List.of("t.yaml:" + expected), problems(lines(rule)));
    }

    @Test
    void aRuleWithoutAKindIsOneProblem() {
        assertEquals(
                List.of("t.yaml:3:5: remap[0]: has no kind; a rule needs one of " + RemapVerb.words()),
                problems("  - to: http://o\n"));
        assertEquals(
                List.of("t.yaml:3:5: remap[0].regx_map: unknown key (did you mean regex_map?)"),
                problems("  - regx_map: http://a/\n    to: http://o\n"));
    }

    @Test
    void redirectWithoutATargetHostMustBeAUrl() {
        ConfigResult result = ConfigLoader.parse(
                "listen: [':1']\nno_host_url_redirect: /x\nremap: [{map: /, to: 'http://o'}]\n", "t.yaml", Map.of());
        assertEquals(
                List.of("t.yaml:2:23: no_host_url_redirect: '/x' is not a URL such as http://host/path"),
                result.problems().stream().map(ConfigProblem::toString).toList());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "map / http://o ; redirect http://a/ http://b | 5:5: warning: remap[1].redirect: can never match, because remap[0] (/) precedes it and takes its requests",
                "redirect http://a/p http://b ; map http://a/ http://o | 3:5: warning: remap[0].redirect: can never match, because remap[1] (http://a/) is of a kind that is tried first and takes its requests",
                "redirect http://a:9000/p http://b ; map http://a/ http://o | 3:5: warning: remap[0].redirect: can never match, because remap[1] (http://a/) is of a kind that is tried first and takes its requests",
                "regex_redirect http://.*/ http://b ; map / http://o | 3:5: warning: remap[0].regex_redirect: can never match, because remap[1] (/) is of a kind that is tried first and takes its requests",
                "regex_redirect http://.*/ http://b ; redirect / http://o | 3:5: warning: remap[0].regex_redirect: can never match, because remap[1] (/) is of a kind that is tried first and takes its requests",
                "regex_map http://.*/ http://b ; map http://a/ http://o | 5:5: warning: remap[1].map: can never match, because remap[0] (http://.*/) precedes it and takes its requests",
                "regex_map http://a/ http://b ; regex_map http://a/p http://o | 5:5: warning: remap[1].regex_map: can never match, because remap[0] (http://a/) precedes it and takes its requests",
                "redirect http://a/p http://b ; regex_map http://[ac]/ http://o | 3:5: warning: remap[0].redirect: can never match, because remap[1] (http://[ac]/) is of a kind that is tried first and takes its requests",
                "redirect http://a/ http://b ; redirect_temporary http://a/p http://o | 5:5: warning: remap[1].redirect_temporary: can never match, because remap[0] (http://a/) precedes it and takes its requests",
                "map_with_recv_port http://a:81/ http://b | 3:5: warning: remap[0].map_with_recv_port: can never match, because no address in listen has port 81",
                "reverse_map http://a/ http://b ; reverse_map http://a:80/p http://b/q | 5:5: warning: remap[1].reverse_map: can never match, because remap[0] (http://a/) precedes it and takes its requests",
                "redirect http://a/ http://a/new/ | 4:5: warning: remap[0].to: matches this rule again, so clients are redirected in a loop",
                "regex_map http://(.*)/ http://$1/ | 4:5: warning: remap[0].to: lets clients choose the origin, because its host name ends with text from the request"
            })
    void warnsOfProbableMistakes(String rules, String expected) {
        assertEquals(List.of("t.yaml:" + expected), problems(lines(rules)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "map http://a/q http://o ; redirect http://a/ http://b",
                "map http://a:9000/ http://o ; redirect http://a/ http://b",
                "redirect http://a/ http://b ; map https://a/ http://o",
                "map http://a/ http://b ; regex_map http://.*/ http://o",
                "regex_map http://.*/p http://b ; map http://a/ http://o",
                "regex_map http://.*:9000/ http://b ; map http://a/ http://o",
                "map_with_recv_port http://a:9000/ http://o ; map http://a:9000/ http://o ; map http://a/ http://o",
                "redirect / http://b ; map http://a/ http://o",
                "redirect http://a/ https://a/",
                "reverse_map http://a/ http://b ; reverse_map http://a/ http://c",
                "reverse_map http://a:81/ http://b ; reverse_map http://a/ http://b",
                "reverse_map https://a/ http://b",
                "redirect http://a/old/ http://a/new/",
                "regex_map http://(.*)/ http://$1.internal/"
            })
    void warnsOfNothingElse(String rules) {
        List<String> found = problems(lines(rules));
        assertTrue(
                found.stream().allMatch(each -> each.contains("matches only requests for a whole URL")),
                found::toString);
    }

    @Test
    void rulesInCodeAreHeldToTheSame() {
        ProxyConfig.Builder builder = ProxyConfig.builder();
        assertEquals(
                "regex_map http://a/: $1 is not a group of the expression, whose number of groups is 0",
                assertThrows(
                                IllegalArgumentException.class,
                                () -> builder.rule(
                                        RemapVerb.REGEX_MAP, "http://a/", "http://$1.o", ConfigValues.empty()))
                        .getMessage());
    }
}
