package io.millrace.proxy.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.origins.OriginConfig;
import io.millrace.proxy.config.origins.OriginGroupConfig;
import io.millrace.proxy.config.tls.OriginTlsConfig;
import io.millrace.proxy.config.value.RuleUrl;
import io.millrace.proxy.config.value.SourceAddress;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests groups of origins in the file: valid settings, and messages about invalid ones. */
class ConfigOriginsTest {
    @TempDir
    Path directory;

    private ConfigResult load(String text) throws IOException {
        Path file = directory.resolve("millrace.yaml");
        Files.writeString(file, text);
        return ConfigLoader.load(file, Map.of());
    }

    private static String problems(ConfigResult result) {
        return result.problems().stream()
                .map(problem -> problem.line() + ":" + problem.column() + " " + problem.path() + ": "
                        + problem.message()
                        + (problem.suggestion() == null ? "" : " (did you mean " + problem.suggestion() + "?)"))
                .collect(Collectors.joining("\n"));
    }

    @Test
    void readsAGroupWithAllItsSettings() throws IOException {
        ConfigResult result = load("""
                listen: [":8080"]
                origins:
                  - name: shop
                    policy: consistent_hash
                    hash_key: path+query
                    hosts:
                      - {url: "http://10.0.0.1:8080", weight: 2}
                      - {url: "https://b.example", backup: true}
                      - http://[::1]:81
                    connections_max: 10
                    retry: {tries: 5, response_codes: [502], within: 2s}
                    markdown: {fail_threshold: 7, retry_time: 1s, retry_time_max: 1m, codes: []}
                    slow_start: 30s
                    when_all_down: fail
                    health_check: {path: /up, host: shop.internal, interval: 2s, timeout: 1s, healthy: 1, status: [200, 204]}
                remap:
                  - {map: /, to: "http://shop.internal/", origins: shop}
                """);
        assertEquals("", problems(result));
        ProxyConfig config = result.config();
        assertNotNull(config);
        assertEquals("shop", config.remap().get(0).origins());
        assertEquals(
                new OriginGroupConfig(
                        "shop",
                        OriginGroupConfig.Policy.CONSISTENT_HASH,
                        OriginGroupConfig.HashKey.PATH_QUERY,
                        OriginGroupConfig.RingMode.EXHAUST_RING,
                        List.of(
                                new OriginGroupConfig.Host(
                                        new RuleUrl("http", "10.0.0.1", 8080, "/"), 2, false, null, null),
                                new OriginGroupConfig.Host(
                                        new RuleUrl("https", "b.example", -1, "/"), 1, true, null, null),
                                new OriginGroupConfig.Host(
                                        new RuleUrl("http", "[::1]", 81, "/"), 1, false, null, null)),
                        null,
                        10,
                        null,
                        null,
                        null,
                        false,
                        false,
                        OriginGroupConfig.WhenAllDown.FAIL,
                        30_000,
                        new OriginGroupConfig.Retry(5, List.of(502), 2000),
                        new OriginGroupConfig.Markdown(7, 1000, 60_000, List.of()),
                        OriginTlsConfig.DEFAULTS,
                        false,
                        null,
                        SourceAddress.NONE,
                        null,
                        OriginConfig.Http2.OFF,
                        new OriginGroupConfig.HealthCheck("/up", "shop.internal", 2000, 1000, 1, 3, List.of(200, 204))),
                config.originGroups().get(0));
    }

    @ParameterizedTest
    @CsvSource({
        "rr_strict, ROUND_ROBIN",
        "rr_ip, STICKY",
        "latched, LATCHED",
        "first_live, FIRST_LIVE",
        "least-loaded, LEAST_LOADED"
    })
    void takesTrafficServersWordsForPolicies(String word, OriginGroupConfig.Policy policy) throws IOException {
        ConfigResult result = load(group("policy: " + word + ", hosts: [http://a]"));
        assertNotNull(result.config(), () -> problems(result));
        assertEquals(policy, result.config().originGroups().get(0).policy());
    }

    private static String group(String settings) {
        return "listen: [':8080']\norigins:\n  - {name: shop, " + settings + "}\nremap:\n"
                + "  - {map: /, to: 'http://shop.internal/', origins: shop}\n";
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    hosts: []                                   | 3:25 origins[0].hosts: is empty; a group needs at least one host, or hosts_from
                    policy: random, hosts: [http://a]           | 3:26 origins[0].policy: 'random' is none of round_robin, least_loaded, consistent_hash, first_live, sticky, latched
                    policy: rr_strikt, hosts: [http://a]        | 3:26 origins[0].policy: 'rr_strikt' is none of round_robin, least_loaded, consistent_hash, first_live, sticky, latched (did you mean rr_strict?)
                    hosts: [http://a/x]                         | 3:26 origins[0].hosts[0]: 'http://a/x' has a path; write it without one, because the path is that of remap[].to (did you mean http://a?)
                    hosts: [http://a, http://a]                 | 3:36 origins[0].hosts[1]: http://a is already hosts[0]
                    hosts: [http://a, http://A:80]              | 3:36 origins[0].hosts[1]: http://a:80 is already hosts[0]
                    hosts: [{url: http://a, backup: true}]      | 3:25 origins[0].hosts: every host is a backup; set backup: false for at least one host
                    hosts: [{url: http://a, wieght: 2}]         | 3:42 origins[0].hosts[0].wieght: unknown key (did you mean weight?)
                    hosts: [{weight: 2}]                        | 3:26 origins[0].hosts[0].url: missing; it takes a URL without path (http://host[:port])
                    hosts: [{url: http://a, weight: 0}]         | 3:50 origins[0].hosts[0].weight: 0 is below the limit of 1
                    hosts: [http://a], hash_key: url            | 3:37 origins[0].hash_key: is only for policy: consistent_hash
                    hosts: [http://a], markdown: {retry_time: 10m} | 3:48 origins[0].markdown.retry_time: 10m is above the limit of retry_time_max, 5m
                    hosts: [http://a], retry: {tries: 0}        | 3:52 origins[0].retry.tries: 0 is below the limit of 1
                    hosts: [http://a], health_check: {interval: 1s} | 3:52 origins[0].health_check.interval: needs health_check.path, because there are no checks without a path
                    hosts: [https://10.0.0.1], health_check: {path: /up} | 3:26 origins[0].hosts[0]: https://10.0.0.1 is an address without a name for the certificate; set the name with health_check.host
                    hosts: [http://a, {url: http://b, backup: true}], ring_mode: alternate_ring | 3:68 origins[0].ring_mode: alternate_ring is only for policy: consistent_hash, which assigns a host to each URL
                    hosts: [http://a], policy: consistent_hash, ring_mode: alternate_ring | 3:62 origins[0].ring_mode: alternate_ring needs a host with backup: true
                    hosts: [http://a], policy: consistent_hash, ring_mode: peering_ring | 3:62 origins[0].ring_mode: peering_ring needs a host with backup: true, or go_direct: true, for the URLs that this proxy owns
                    policy: sticky                              | 3:5 origins[0].hosts: is empty; a group needs at least one host, or hosts_from
                    """)
    void reportsTheProblemOfAGroupAndItsPlace(String settings, String problem) throws IOException {
        ConfigResult result = load(group(settings));
        assertNull(result.config());
        assertEquals(problem, problems(result).lines().findFirst().orElse(""));
    }

    @Test
    void groupsOfBranchesAreInUse() throws IOException {
        String split = "split: [{origins: shop, weight: 5}]";
        assertEquals("", problems(load(group("hosts: [http://a]").replace("origins: shop", split))));
    }

    @Test
    void suggestsTheGroupThatWasMeant() throws IOException {
        assertEquals(
                "3:5 origins[0]: is never used; neither a rule of remap nor forward_proxy.origins names it\n".strip(),
                problems(load(group("hosts: [http://a]").replace("origins: shop", "pristine_host_hdr: true"))));
        assertEquals(
                "5:43 remap[0].origins: no group of origins is named 'shpo' (did you mean shop?)",
                problems(load(group("hosts: [http://a]").replace("origins: shop", "origins: shpo"))));
    }

    @Test
    void namesAreUniqueAndPlain() throws IOException {
        assertEquals("4:6 origins[1].name: 'shop' is already the name of origins[0]", problems(load("""
                        listen: [':8080']
                        origins:
                          - {name: shop, hosts: [http://a]}
                          - {name: shop, hosts: [http://b]}
                        remap:
                          - {map: /, to: 'http://shop.internal/', origins: shop}
                        """)));
        assertEquals(
                "3:6 origins[0].name: 'Shop' must be at most 64 lower-case letters, digits, '-' and '_'",
                problems(load(group("hosts: [http://a]")
                        .replace("name: shop", "name: Shop")
                        .replace("origins: shop", "origins: Shop"))));
    }

    @Test
    void onlyRulesThatAskAnOriginTakeAGroup() throws IOException {
        ConfigResult result = load(group("hosts: [http://a]").replace("map: /,", "redirect: 'http://b/',"));
        assertEquals(
                "remap[0].origins: cannot be set for redirect, which sends no requests to an origin",
                problems(result)
                        .lines()
                        .map(line -> line.substring(line.indexOf(' ') + 1))
                        .findFirst()
                        .orElse(""));
    }

    @Test
    void aChangeOfAGroupIsLive() throws IOException {
        ProxyConfig one = load(group("hosts: [http://a]")).config();
        ProxyConfig other = load(group("hosts: [http://b]")).config();
        List<ConfigChange> changes = ConfigChange.between(one, other);
        assertEquals(List.of("origins"), changes.stream().map(ConfigChange::key).toList());
        assertEquals(ConfigKey.Apply.LIVE, changes.get(0).apply());
    }

    /** A request whose Via names the receiving proxy is refused as a loop. */
    @Test
    void siblingsWithOneNameGetAWarning() throws IOException {
        String siblings =
                group("hosts: [http://a, http://b], policy: consistent_hash, ring_mode: peering_ring, go_direct: true");
        assertEquals(
                "3:72 origins[0].ring_mode: each sibling needs its own via.name; siblings with the same name refuse each other's requests (508)",
                problems(load(siblings)));
        assertEquals("", problems(load(siblings + "via: {name: edge-1}\n")));
    }
}
