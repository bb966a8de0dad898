package io.millrace.launcher.ats;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.launcher.importing.source.Outcome;
import org.junit.jupiter.api.Test;

/**
 * Tests the filters that are written for rules, and the clients of the forward proxy. {@link AtsFiltersTest} tests
 * which clients are admitted.
 */
final class AtsFilterTextTest extends AtsFixture {
    @Test
    void ruleWithAnAllowFilterDoesNotOverrideIpAllow() {
        samples.file(
                "ip_allow.config",
                "src_ip=127.0.0.1 action=ip_allow",
                "src_ip=0.0.0.0-255.255.255.255 action=ip_deny method=DELETE");
        samples.file("remap.config", "map http://a.example/ http://b.example/ @action=allow @src_ip=10.0.0.0/8");
        assertHas("""
                    filters:
                      - no-push
                      - ip-allow-1
                      - ip-allow-rest
                      - action: allow
                        src_ip: [10.0.0.0/8]
                """.indent(0).replaceAll("(?m)^", "").stripTrailing());
        assertHas("- name: ip-allow-1\n    action: deny\n    src_ip: [0.0.0.0/0, ~127.0.0.1]\n    methods: [DELETE]");
    }

    @Test
    void ruleForInternalRequestsOnlyAdmitsNobodyNorDoesAWiderRuleAfterIt() {
        samples.file(
                "remap.config",
                "map http://a.example/x/ http://b.example/x/ @action=allow @internal",
                "map http://a.example/ http://b.example/");
        assertHas(
                "- map: http://a.example/x/\n    to: http://b.example/x/\n    filters:\n      - action: deny\n  - map");
        assertOutcome(Outcome.MAPPED, "remap.config", 1, "Traffic Server's internal requests");
    }

    @Test
    void filterThatIsDefinedAnewIsAnotherOne() {
        samples.file(
                "remap.config",
                ".definefilter f @action=deny @src_ip=192.0.2.1",
                ".activatefilter f",
                "map http://a.example/ http://o.example/",
                ".deletefilter f",
                ".definefilter f @action=allow @src_ip=10.0.0.0/8",
                ".activatefilter f",
                "map http://b.example/ http://o.example/");
        assertHas("- name: f-2\n    action: allow\n    src_ip: [10.0.0.0/8]");
        assertHas("- map: http://b.example/\n    to: http://o.example/\n    filters:\n      - no-push\n      - f-2");
    }

    @Test
    void unknownMethodsAreRefusedByARuleWhenIpAllowListsTheAllowedMethods() {
        samples.file("ip_allow.config", "src_ip=0.0.0.0-255.255.255.255 action=ip_allow method=GET|HEAD");
        samples.file("remap.config", "map http://a.example/ http://b.example/ @action=allow @src_ip=10.0.0.0/8");
        assertHas(
                "filters:\n      - no-push\n      - action: allow\n        src_ip: [10.0.0.0/8]\n        methods: [GET, HEAD]\n      - ip-allow-1");
        assertHas("- name: ip-allow-1\n    action: deny\n    src_ip: [0.0.0.0/0]");
    }

    @Test
    void ruleRemovedWithItsFiltersIsReported() {
        samples.file(
                "remap.config",
                "regex_map http://(?=a)(.*)/x/ http://b.example/ @action=allow @src_ip=10.0.0.0/8",
                "map http://a.example/ http://b.example/");
        assertOutcome(Outcome.NOT_MAPPED, "remap.config", 1, "a wider rule without filters");
    }

    @Test
    void filtersByNameHoldFromWhereTheyAreActivated() {
        samples.file(
                "remap.config",
                ".definefilter ro @action=deny @method=post",
                "map http://a.example/ http://o.example/",
                ".activatefilter ro",
                "map http://b.example/ http://o.example/",
                ".deactivatefilter ro",
                "map http://c.example/ http://o.example/");
        assertHas("to: http://o.example/\n    filters:\n      - ro\n  - map: http://c.example/");
        assertHas("- name: ro\n    action: deny\n    methods: [POST]");
        assertEquals(1, samples.yaml().split("- ro\n", -1).length - 1);
    }

    @Test
    void noClientIsForwardedWithoutALineThatNamesClients() {
        samples.file("records.config", "CONFIG proxy.config.url_remap.remap_required INT 0");
        samples.file("ip_allow.config", "src_ip=0.0.0.0-255.255.255.255 action=ip_deny method=PURGE");
        assertHas("enabled: true");
        assertHas("allow: [127.0.0.0/8, 10.0.0.0/8,");
        assertOutcome(Outcome.NOT_MAPPED, "records.config", 1, "open proxy");
    }

    @Test
    void noClientIsForwardedIfSeveralRangesAreAllAddresses() {
        samples.file("records.config", "CONFIG proxy.config.url_remap.remap_required INT 0");
        samples.file(
                "ip_allow.config",
                "src_ip=0.0.0.0-127.255.255.255 action=ip_allow",
                "src_ip=128.0.0.0-255.255.255.255 action=ip_allow");
        assertHas("allow: [127.0.0.0/8, 10.0.0.0/8,");
        assertOutcome(Outcome.NOT_MAPPED, "records.config", 1, "open proxy");
    }

    @Test
    void clientsOfTheFileAreForwarded() {
        samples.file("records.config", "CONFIG proxy.config.url_remap.remap_required INT 0");
        samples.file("ip_allow.config", "src_ip=192.0.2.0/24 action=ip_allow");
        assertHas("allow: [192.0.2.0/24]");
        assertOutcome(Outcome.MAPPED, "records.config", 1, "forward_proxy.enabled");
    }
}
