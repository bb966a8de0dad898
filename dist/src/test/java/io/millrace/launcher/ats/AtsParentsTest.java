package io.millrace.launcher.ats;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The groups of hosts that parents and strategies become, and when another host is tried. */
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
    void secondRingIsAskedAsTheLineSays(String mode, String ring) {
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
        assertOutcome(Outcome.MAPPED, "parent.config", 1, "for round_robin=consistent_hash alone");
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
    void anotherParentIsTriedAfterWhatTheLineLists(String retry, String responses, String marks, String tries) {
        samples.file("remap.config", "map http://a.example/ http://o.example/");
        samples.file("parent.config", "dest_host=o.example parent=p1:80,p2:80 parent_is_proxy=false " + retry);
        assertHas(responses);
        assertHas(marks);
        assertHas(tries);
    }

    @Test
    void strategyThatARuleNamesMustBeThere() {
        samples.file("remap.config", "map http://a.example/ http://o.example/ @strategy=none");
        assertOutcome(Outcome.NOT_MAPPED, "remap.config", 1, "there is no strategies.yaml");
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
}
