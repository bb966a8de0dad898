package io.millrace.launcher.ats;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.launcher.importing.source.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the groups of hosts imported from parents and strategies, and their retries. */
final class AtsParentsTest extends AtsFixture {
    @Test
    void parentsBecomeAGroupThatTheRulesTowardsThemName() {
        samples.file(
                "remap.config", "map http://a.example/ http://o.example/x/", "map http://b.example/ http://p.example/");
        samples.file("parent.config", "dest_domain=o.example parent=\"p1:8080|2;p2:8080\" round_robin=strict");
        assertHas("to: http://o.example/x/\n    origins: parent-1");
        assertHas("policy: round_robin");
        assertHas("- url: http://p1:8080\n        weight: 2\n      - url: http://p2:8080\n");
        assertHas("go_direct: true");
        assertEquals(1, samples.yaml().split("origins: parent", -1).length - 1);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''|alternate_ring",
                "secondary_mode=0|alternate_ring",
                "secondary_mode=1|alternate_ring",
                "secondary_mode=2|''",
                "secondary_mode=3|''"
            })
    void secondRingIsUsedByTheSettingOfTheLine(String mode, String ring) {
        samples.file("remap.config", "map http://a.example/ http://o.example/");
        samples.file(
                "parent.config",
                "dest_host=o.example parent=p1:80 secondary_parent=p2:80 round_robin=consistent_hash " + mode);
        if (ring.isEmpty()) {
            assertLacks("ring_mode");
        } else {
            assertHas("ring_mode: " + ring);
        }
        assertHas("- url: http://p2:80\n        backup: true");
    }

    @Test
    void secondRingIsForHashingAlone() {
        samples.file("remap.config", "map http://a.example/ http://o.example/");
        samples.file("parent.config", "dest_host=o.example parent=p1:80 secondary_parent=p2:80 round_robin=strict");
        assertLacks("p2:80");
        assertOutcome(Outcome.MAPPED, "parent.config", 1, "only with round_robin=consistent_hash");
    }

    @Test
    void originsAreAskedByTheSchemeOfTheirRules() {
        samples.file(
                "remap.config",
                "map http://a.example/ http://o.example/",
                "map http://b.example/ https://o.example/",
                "map http://c.example/ http://o.example/c/");
        samples.file("parent.config", "dest_host=o.example parent=p1:8443 parent_is_proxy=false");
        assertHas("to: http://o.example/\n    origins: parent-1\n");
        assertHas("to: https://o.example/\n    origins: parent-1-https\n");
        assertHas("to: http://o.example/c/\n    origins: parent-1\n");
        assertHas("- url: http://p1:8443\n");
        assertHas("- url: https://p1:8443\n");
        samples.file("parent.config", "dest_host=o.example parent=p1:8443");
        assertLacks("https://p1");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''|'response_codes: []'|'codes: []'|'tries: 4'",
                "parent_retry=simple_retry|'response_codes: [404]'|'codes: []'|'tries: 4'",
                "parent_retry=simple_retry simple_server_retry_responses=500,200,404 max_simple_retries=5|'response_codes: [500, 404]'|'codes: []'|'tries: 6'",
                "parent_retry=unavailable_server_retry|'response_codes: [503]'|'codes: [503]'|'tries: 4'",
                "parent_retry=both unavailable_server_retry_responses=\"502,404\"|'response_codes: [404, 502]'|'codes: [502]'|'tries: 4'"
            })
    void anotherParentIsTriedAfterTheResponsesInTheLine(String retry, String responses, String marks, String tries) {
        samples.file("remap.config", "map http://a.example/ http://o.example/");
        samples.file("parent.config", "dest_host=o.example parent=p1:80,p2:80 parent_is_proxy=false " + retry);
        assertHas(responses);
        assertHas(marks);
        assertHas(tries);
    }

    @Test
    void strategyThatARuleNamesMustBeThere() {
        samples.file("remap.config", "map http://a.example/ http://o.example/ @strategy=none");
        assertOutcome(Outcome.NOT_MAPPED, "remap.config", 1, "strategies.yaml is missing");
        samples.file("strategies.yaml", "strategies:", "  - {strategy: other, policy: rr_ip}");
        assertProblem("remap.config:1:1", "no strategy is named 'none'");
    }

    @Test
    void strategyCountsBeforeParents() {
        samples.file("remap.config", "map http://a.example/ http://o.example/ @strategy=s");
        samples.file("parent.config", "dest_domain=. parent=p1:80");
        samples.file(
                "strategies.yaml",
                "strategies:",
                "  - strategy: s",
                "    policy: rr_strict",
                "    groups: [[{host: h1, protocol: [{scheme: http, port: 81}]}]]");
        assertHas("origins: s\n");
        assertHas("- url: http://h1:81\n");
        assertLacks("p1:80");
    }

    @Test
    void strategiesOfADirectoryAreReadAsOneFile() throws IOException {
        Files.createDirectories(directory.resolve("strategies"));
        samples.file("records.config", "CONFIG proxy.config.url_remap.strategies.filename STRING strategies");
        samples.file("remap.config", "map http://a.example/ http://o.example/ @strategy=s");
        samples.file(
                "strategies/02.yaml", "strategies:", "  - strategy: s", "    policy: rr_strict", "    groups: [*g]");
        samples.file(
                "strategies/01.yaml", "groups:", "  - &g", "    - {host: h1, protocol: [{scheme: http, port: 81}]}");
        samples.file("strategies/03.txt", "x");
        assertHas("- url: http://h1:81\n");
        assertOutcome(Outcome.MAPPED, "strategies/01.yaml", 2, "origins[0].hosts[0]");
        assertOutcome(Outcome.MAPPED, "strategies/02.yaml", 2, "origins[0]");
        samples.file("strategies/02.yaml", "strategies: [");
        assertProblem("strategies/02.yaml:1:1", "YAML");
    }

    /** Writes settings that forward requests which no rule maps, from the addresses of ip_allow. */
    private void forwarding(String... parents) {
        samples.file("records.yaml", "records: {url_remap: {remap_required: 0}}");
        samples.file("ip_allow.yaml", "ip_allow:", "  - {apply: in, ip_addrs: 10.0.0.0/8, action: set_allow}");
        samples.file("parent.config", parents);
    }

    private void assertForwardingEnds(int line, String said) {
        assertHas("forward_proxy:\n  enabled: false\n");
        assertLacks("origins: parent");
        assertOutcome(Outcome.NOT_MAPPED, "parent.config", line, said);
        assertOutcome(Outcome.NOT_MAPPED, "parent.config", line, "forwarding is off");
        assertOutcome(Outcome.NOT_MAPPED, "records.yaml", 1, "forwarding is off");
    }

    @Test
    void forwardedRequestsGoToTheParentsOfAllHosts() {
        forwarding("dest_domain=. parent=\"p1:8080;p2:8080\" round_robin=strict go_direct=false");
        assertHas("  enabled: true\n  allow: [10.0.0.0/8]\n  origins: parent-1\n");
        assertHas("- url: http://p1:8080\n      - url: http://p2:8080\n");
        assertHas("parent_is_proxy: true\n    go_direct: false\n");
        assertOutcome(Outcome.MAPPED, "parent.config", 1, "forward_proxy.origins");
        assertEquals(
                List.of(),
                samples.result().warnings(),
                "neither is every request answered with 404, nor has the group nobody");
    }

    @Test
    void parentsOfRulesAndOfForwardedRequestsAreOneGroup() {
        forwarding("dest_domain=. parent=p1:8080");
        samples.file("remap.config", "map http://a.example/ http://o.example/");
        assertHas("origins: parent-1\n");
        assertHas("to: http://o.example/\n    origins: parent-1\n");
        assertEquals(1, samples.yaml().split("- name: parent", -1).length - 1);
    }

    @Test
    void forwardingEndsWhereItWouldGoPastParents() {
        forwarding("dest_domain=corp.example parent=p1:8080 go_direct=false");
        assertForwardingEnds(1, "forward_proxy.origins applies to all hosts");
        forwarding("dest_domain=. method=get parent=p1:8080 go_direct=false");
        assertForwardingEnds(1, "method: ");
        forwarding("url_regex=x parent=p1:8080 go_direct=false", "dest_domain=. go_direct=true");
        assertForwardingEnds(1, "url_regex: ");
        forwarding("dest_domain=. parent=p1:8080 parent_is_proxy=false");
        assertForwardingEnds(1, "parent_is_proxy=false: forwarded requests go to groups of proxies only");
        forwarding("dest_domain=. parent=p1:port go_direct=false");
        assertForwardingEnds(1, "port");
    }

    @Test
    void someHostsOfManyGoToTheParentsOfAll() {
        forwarding(
                "dest_domain=near.example go_direct=true",
                "dest_domain=far.example parent=p2:8080 go_direct=false",
                "dest_domain=. parent=p1:8080 go_direct=false",
                "dest_domain=late.example parent=p3:8080 go_direct=false");
        assertHas("  enabled: true\n");
        assertHas("- url: http://p1:8080\n");
        assertOutcome(
                Outcome.NOT_MAPPED, "parent.config", 1, "forwarded requests for these hosts also go to the parents");
        assertOutcome(Outcome.NOT_MAPPED, "parent.config", 2, "forward_proxy.origins applies to all hosts");
        assertOutcome(Outcome.NO_EFFECT, "parent.config", 4, "an earlier line applies to the rule");
    }

    @Test
    void hostsThatMayBeAskedDirectlyAreForwarded() {
        forwarding("dest_domain=corp.example parent=p1:8080");
        assertHas("  enabled: true\n");
        assertOutcome(Outcome.NOT_MAPPED, "parent.config", 1, "forward_proxy.origins applies to all hosts");
    }

    @Test
    void parentsOfARecordApplyToRequestsWithoutALine() {
        samples.file(
                "records.config",
                "CONFIG proxy.config.url_remap.remap_required INT 0",
                "CONFIG proxy.config.http.parent_proxies STRING p1:8080;p2:8080");
        samples.file("remap.config", "map http://a.example/ http://o.example/");
        assertHas("- url: http://p1:8080\n      - url: http://p2:8080\n");
        assertHas("to: http://o.example/\n    origins: parent-1\n");
        assertHas("  origins: parent-1\n");
        assertOutcome(Outcome.MAPPED, "records.config", 2, "forward_proxy.origins");
        assertLacks("go_direct: false");
    }

    @Test
    void forwardingEndsWhereOriginsAreReachedThroughSocks() {
        forwarding("dest_domain=. go_direct=true");
        samples.file("records.yaml", "records:", "  url_remap: {remap_required: 0}", "  socks: {socks_needed: 1}");
        assertHas("  enabled: false\n");
        assertOutcome(Outcome.NOT_MAPPED, "records.yaml", 3, "forwarding is off");
    }

    @Test
    void conditionsThatNoRuleHasAreNamed() {
        samples.file("remap.config", "map http://a.example/ http://o.example/");
        samples.file("parent.config", "url=http://o.example/x parent=p1:80", "host_regex=^o parent=p1:80");
        assertOutcome(Outcome.NOT_MAPPED, "parent.config", 1, "url: groups of origins");
        assertOutcome(Outcome.NOT_MAPPED, "parent.config", 2, "host_regex: groups of origins");
    }

    @Test
    void fileOfParentsHasTheNameInTheRecord() {
        samples.file("records.yaml", "records: {http: {parent_proxy: {file: other.config}}}");
        samples.file("remap.config", "map http://a.example/ http://o.example/");
        samples.file("other.config", "dest_host=o.example parent=p1:80");
        assertHas("- url: http://p1:80\n");
        assertOutcome(Outcome.MAPPED, "other.config", 1, "origins[0]");
    }
}
