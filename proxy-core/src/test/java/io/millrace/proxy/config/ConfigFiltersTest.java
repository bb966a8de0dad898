package io.millrace.proxy.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.access.FilterConfig;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.problem.ConfigProblem;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests filters in the file. */
final class ConfigFiltersTest {
    private static final String GOOD = """
            listen: ["127.0.0.1:8080"]
            remap:
              - map: /
                to: http://127.0.0.1:9000
            """;

    private static ConfigResult parse(String yaml) {
        return ConfigLoader.parse(yaml, "millrace.yaml", Map.of());
    }

    private static List<String> bad(String yaml) {
        ConfigResult result = parse(yaml);
        assertNull(result.config());
        return result.problems().stream().map(ConfigProblem::toString).toList();
    }

    private static List<String> warnings(String yaml) {
        ConfigResult result = parse(yaml);
        assertNotNull(result.config(), () -> String.valueOf(result.problems()));
        return result.problems().stream().map(ConfigProblem::toString).toList();
    }

    @Test
    void readsFiltersWhereverTheyStand() {
        ConfigResult result = parse(GOOD.replace("map: /", "map: http://new.example/") + """
                    filters: [office, {action: deny, methods: [PUT]}]
                  - redirect: http://old.example/
                    to: http://new.example/
                    filters: office
                filters:
                  - name: office
                    action: allow
                    src_ip: [10.0.0.0/8, ~10.1.2.3]
                    in_ip: 127.0.0.1
                    methods: GET, HEAD
                access:
                  filter_by_x_forwarded_for: true
                  trusted_proxies: [192.0.2.1]
                  filters:
                    - office
                    - action: deny
                """);
        assertEquals(List.of(), result.problems());
        FilterRules rules = Objects.requireNonNull(result.config()).filters();
        FilterConfig office = rules.byRule().get(0).get(0);
        assertEquals("office", office.name());
        assertEquals(FilterConfig.Action.ALLOW, office.action());
        assertEquals("10.0.0.0/8, ~10.1.2.3", String.valueOf(office.sources()));
        assertEquals("127.0.0.1", String.valueOf(office.listeners()));
        assertEquals(List.of("GET", "HEAD"), office.methods());
        FilterConfig puts = rules.byRule().get(0).get(1);
        assertEquals("remap[0].filters[1]", puts.name());
        assertEquals(FilterConfig.Action.DENY, puts.action());
        assertEquals(List.of("PUT"), puts.methods());
        assertNull(puts.sources());
        assertEquals(List.of(List.of(office, puts), List.of(office)), rules.byRule());
        assertEquals(office, rules.general().get(0));
        FilterConfig all = rules.general().get(1);
        assertEquals("access.filters[1]", all.name());
        assertEquals(List.of(), all.methods());
        assertTrue(rules.byForwardedFor());
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource(
            delimiter = '|',
            value = {
                "{name: a} | 5:12: filters[0]: has no action; set allow or deny",
                "{action: deny} | 5:12: filters[0]: has no name; access.filters and rules refer to a filter by its name",
                "{name: a b, action: deny} | 5:13: filters[0].name: 'a b' is not a name of letters, digits, '-', '_' and '.'",
                "{name: a, action: dney} | 5:30: filters[0].action: 'dney' is none of allow, deny (did you mean deny?)",
                "{name: a, actoin: deny} | 5:22: filters[0].actoin: unknown key (did you mean action?)",
                "{name: a, action: deny, src_ip: 10.0.0} | 5:44: filters[0].src_ip: '10.0.0' is neither an address nor a range such as 10.0.0.0/8 or 10.0.0.1-10.0.0.9",
                "{name: a, action: deny, src_ip: [10.0.0.1/8]} | 5:44: filters[0].src_ip: '10.0.0.1/8' has bits set beyond its prefix of 8",
                "{name: a, action: deny, in_ip: [10.0.0.9-10.0.0.1]} | 5:43: filters[0].in_ip: '10.0.0.9-10.0.0.1' ends before it begins",
                "{name: a, action: deny, src_ip: []} | 5:44: filters[0].src_ip: is empty, so no request would match; leave the key out to match any",
                "{name: a, action: deny, methods: []} | 5:45: filters[0].methods: is empty, so no request would match; leave the key out to match any",
                "{name: a, action: deny, methods: [get]} | 5:36: filters[0].methods: 'get' must be in capital letters (did you mean GET?)",
                "{name: a, action: deny, internal: true} | 5:36: filters[0].internal: is not supported, because this proxy has no internal requests",
                "office | 5:12: filters[0]: must be a section with keys such as name, action, src_ip, this is a single value"
            })
    void reportsAFilterThatCannotBe(String filter, String problem) {
        assertEquals(List.of("millrace.yaml:" + problem), bad(GOOD + "filters:  [" + filter + "]\n"));
    }

    @Test
    void reportsANameThatIsTaken() {
        assertEquals(
                List.of("millrace.yaml:7:6: filters[1].name: a is already the name of filters[0]"),
                bad(GOOD + "filters:\n  - {name: a, action: deny}\n  - {name: a, action: allow}\n"));
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource(
            delimiter = '|',
            value = {
                "offcie | 6:13: PATH[0]: no filter in filters has the name 'offcie' (did you mean office?)",
                "{name: office, action: deny} | 6:14: PATH[0].name: a filter with a name must be defined in filters; use only its name here",
                "{src_ip: 10.0.0.1} | 6:13: PATH[0]: has no action; set allow or deny",
                "{action: deny, scr_ip: 10.0.0.1} | 6:28: PATH[0].scr_ip: unknown key (did you mean src_ip?)"
            })
    void reportsAUseThatCannotBe(String use, String problem) {
        String named = "filters: [{name: office, action: deny}]\n";
        assertEquals(
                List.of("millrace.yaml:" + problem.replace("PATH", "remap[0].filters")),
                bad("listen: [':1']\nremap:\n- map: /\n  to: http://o\n " + " # \n  filters: [" + use + "]\n" + named));
        assertEquals(
                List.of("millrace.yaml:" + problem.replace("PATH", "access.filters")),
                bad("listen: [':1']\nremap: [{map: /, to: http://o}]\n" + named + "access:\n # \n  filters: [" + use
                        + "]\n"));
    }

    @Test
    void reportsFiltersOfResponseParts() {
        assertEquals(
                List.of("millrace.yaml:7:14: remap[1].filters: applies to requests, and cannot be set for reverse_map"),
                bad(GOOD + "  - reverse_map: http://o/\n    to: http://c/\n    filters: [{action: deny}]\n"));
    }

    @Test
    void warnsOfFiltersThatDecideNothing() {
        assertEquals(
                List.of(
                        "millrace.yaml:5:15: warning: remap[0].filters[0]: can never match, because src_ip excludes"
                                + " all addresses that it lists",
                        "millrace.yaml:7:8: warning: remap[0].filters[2]: can never match, because"
                                + " remap[0].filters[1] matches all of its requests first",
                        "millrace.yaml:8:8: warning: remap[0].filters[3]: can never match, because no address in listen"
                                + " is in in_ip",
                        "millrace.yaml:10:6: warning: filters[0].name: is never used; neither access.filters nor a rule"
                                + " names 'unused'",
                        "millrace.yaml:11:10: warning: access.filter_by_x_forwarded_for: has no effect, because"
                                + " access.trusted_proxies has no addresses"),
                warnings(GOOD + """
                            filters: [{action: deny, src_ip: [10.1.2.3, ~10.0.0.0/8]},
                               {action: allow, src_ip: 10.0.0.0/8, methods: [GET, PUT]},
                               {action: deny, src_ip: 10.1.0.0/16, methods: [PUT], in_ip: 127.0.0.1},
                               {action: deny, in_ip: 127.0.0.2}, {action: deny, src_ip: 10.1.0.0/16}]
                        filters:
                          - {name: unused, action: deny}
                        access: {filter_by_x_forwarded_for: true}
                        """));
    }

    @Test
    void changeOfFiltersIsLive() {
        ProxyConfig before = Objects.requireNonNull(parse(GOOD).config());
        ProxyConfig after =
                Objects.requireNonNull(parse(GOOD + "access: {filters: [{action: deny, src_ip: 10.0.0.1}]}\n")
                        .config());
        List<ConfigChange> changes = ConfigChange.between(before, after);
        assertEquals(
                List.of("access.filters"),
                changes.stream().map(ConfigChange::key).toList());
        assertEquals(ConfigKey.Apply.LIVE, ConfigChange.strongest(changes));
    }
}
