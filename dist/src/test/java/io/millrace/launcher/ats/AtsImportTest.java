package io.millrace.launcher.ats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ConfigLoader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What single lines of Traffic Server become. */
final class AtsImportTest {
    @TempDir
    Path directory;

    private Samples samples;

    @BeforeEach
    void start() {
        samples = new Samples(directory);
    }

    private void assertHas(String text) {
        assertTrue(samples.yaml().contains(text), () -> "no '" + text + "' in\n" + samples.yaml());
    }

    private void assertLacks(String text) {
        assertFalse(samples.yaml().contains(text), () -> "'" + text + "' in\n" + samples.yaml());
    }

    private void assertOutcome(Outcome outcome, String file, int line, String said) {
        ImportedLine found = samples.line(file, line);
        assertEquals(outcome, found.outcome(), found::toString);
        assertTrue((found.keys() + " " + found.note()).contains(said), found::toString);
    }

    private void assertProblem(String place, String said) {
        assertNull(samples.result().yaml());
        assertTrue(
                samples.result().problems().stream()
                        .anyMatch(problem ->
                                problem.startsWith(directory.resolve(place) + ": ") && problem.contains(said)),
                () -> samples.result().problems().toString());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "http.cache.required_headers INT 0|'cache.required_headers'|SAME_AS_DEFAULT",
                "http.cache.required_headers INT 2|'required_headers: lifetime'|MAPPED",
                "http.cache.heuristic_min_lifetime INT 90|'heuristic_min_lifetime: 90s'|MAPPED",
                "http.cache.heuristic_max_lifetime INT 0x15180|'cache.heuristic_max_lifetime'|SAME_AS_DEFAULT",
                "http.cache.guaranteed_max_lifetime INT 604800|'guaranteed_max_lifetime: 7d'|MAPPED",
                "cache.max_doc_size INT 512K|'max_object_size: 512KiB'|MAPPED",
                "cache.max_doc_size INT 0x100000|'max_object_size: 1MiB'|MAPPED",
                "cache.max_doc_size INT 1000|'max_object_size: 1000B'|MAPPED",
                "cache.ram_cache.size INT 2G|'ram_size: 2GiB'|MAPPED",
                "cache.ram_cache.size INT -1|'cache.ram_size'|SAME_AS_DEFAULT",
                "http.cache.heuristic_lm_factor FLOAT 0.20|'heuristic_lm_factor: 0.2'|MAPPED",
                "http.negative_caching_list STRING 404 410|'list: [404, 410]'|MAPPED",
                "http.insert_response_via_str INT 3|'response: full'|MAPPED",
                "http.response_server_enabled INT 0|'via.server'|SAME_AS_DEFAULT",
                "http.per_server.connection.max INT 0|'connections_max: 1000000'|MAPPED",
                "stop.shutdown_timeout INT 10|'drain: 10s'|MAPPED",
                "srv_enabled INT 1|'srv: true'|MAPPED",
                "hostdb.ip_resolve STRING ipv6;ipv4|'prefer: ipv6'|MAPPED",
                "http.keep_alive_no_activity_timeout_in INT 0|'below the limit of 10ms'|NOT_MAPPED",
                "http.flow_control.enabled INT 1|'cache.fill_window'|NO_EFFECT",
                "http.push_method_enabled INT 0|''|MAPPED",
                "http.push_method_enabled INT 1|'nothing is stored by PUSH'|NOT_MAPPED",
                "ssl.client.CA.cert.filename STRING NULL|'says nothing'|NO_EFFECT",
                "no.such.record INT 1|'no setting for this record'|NOT_MAPPED"
            })
    void recordsBecomeKeysOrAreExplained(String record, String said, Outcome outcome) {
        samples.file("records.config", "CONFIG proxy.config." + record);
        ImportedLine line = samples.line("records.config", 1);
        assertEquals(outcome, line.outcome(), line::toString);
        if (outcome == Outcome.MAPPED) {
            assertHas(said);
        } else {
            assertTrue((line.keys() + line.note()).contains(said), line::toString);
        }
    }

    @Test
    void whatTrafficServerDoesWithoutAnySettingIsWrittenWhereMillraceDiffers() {
        samples.file("remap.config", "map / http://origin.example/");
        for (String text : List.of(
                "required_headers: lifetime",
                "ignore_client_no_cache: true",
                "collapse_wait: 0",
                "response: none",
                "server: own",
                "forwarded_fields: [x-forwarded-for, client-ip]",
                "targeted_cache_control: []",
                "keep_alive: 2m")) {
            assertHas(text);
        }
        assertTrue(
                String.valueOf(samples.result().yaml())
                        .contains(
                                "# Traffic Server's default (proxy.config.http.cache.required_headers); without this line none"));
    }

    @Test
    void recordTakesThePlaceOfTheDefault() {
        samples.file("records.config", "CONFIG proxy.config.http.cache.required_headers INT 1");
        assertHas("required_headers: last_modified");
        assertLacks("required_headers: lifetime");
    }

    @Test
    void fieldsHaveMoreRoomInFilesOfVersion9() {
        samples.file("remap.config", "map / http://origin.example/");
        assertHas("request_header: 128KiB");
        samples.file("records.yaml", "records:", "  accept_threads: 1");
        assertLacks("request_header: 128KiB");
    }

    @Test
    void ofARecordThatIsSetTwiceTheLastCounts() {
        samples.file(
                "records.config",
                "CONFIG proxy.config.cache.max_doc_size INT 1M",
                "CONFIG proxy.config.cache.max_doc_size INT 2M");
        assertHas("max_object_size: 2MiB");
        assertOutcome(Outcome.NO_EFFECT, "records.config", 1, "records.config:2 sets it again");
    }

    @Test
    void keysNameTheLineThatTheyComeFrom() {
        samples.file("records.config", "", "# a comment", "CONFIG proxy.config.cache.max_doc_size INT 1M");
        samples.file("remap.config", "", "map / \\", "  http://origin.example/");
        String yaml = String.valueOf(samples.result().yaml());
        assertTrue(yaml.contains("max_object_size: 1MiB  # records.config:3\n"), yaml);
        assertTrue(yaml.contains("- map: /  # remap.config:2\n"), yaml);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "8080 8080:ipv6|:8080",
                "8080|0.0.0.0:8080",
                "8080:ipv6|[::]:8080",
                "80:ip-in=192.0.2.1|192.0.2.1:80",
                "ip-in=[2001:db8::1]:80|[2001:db8::1]:80",
                "80:ipv6:ip-in=[2001:db8::1]|[2001:db8::1]:80"
            })
    void portsBecomeAddresses(String ports, String address) {
        samples.file("records.config", "CONFIG proxy.config.http.server_ports STRING " + ports);
        assertHas("- address: '" + address + "'");
        assertEquals(1, samples.yaml().split("- address", -1).length - 1);
    }

    @Test
    void portAndAddressOfOldVersionsAreOneAddress() {
        samples.file(
                "records.config",
                "CONFIG proxy.config.http.server_port INT 80",
                "LOCAL proxy.local.incoming_ip_to_bind STRING 192.0.2.1");
        assertHas("- address: '192.0.2.1:80'");
        assertOutcome(Outcome.MAPPED, "records.config", 2, "listen[0]");
    }

    @Test
    void portForTlsHasTheCertificate() throws IOException {
        Files.writeString(directory.resolve("site.pem"), "");
        Files.writeString(directory.resolve("site.key"), "");
        samples.file("records.config", "CONFIG proxy.config.http.server_ports STRING 443:ssl");
        samples.file(
                "ssl_multicert.config",
                "dest_ip=* ssl_cert_name=site.pem ssl_key_name=site.key",
                "ssl_cert_name=x.pem");
        assertHas("certificate: " + directory.resolve("site.pem"));
        assertHas("key: " + directory.resolve("site.key"));
        assertOutcome(Outcome.NOT_MAPPED, "ssl_multicert.config", 2, "has one certificate");
    }

    @Test
    void portForTlsWithoutCertificateIsNotOpenedInClear() {
        samples.file("records.config", "CONFIG proxy.config.http.server_ports STRING 80 443:ssl");
        assertHas(":80'");
        assertLacks(":443'");
        assertOutcome(Outcome.NOT_MAPPED, "records.config", 1, "no certificate is named");
    }

    @Test
    void verbosityOfViaIsThatOfBothOldRecords() {
        samples.file(
                "records.config",
                "CONFIG proxy.config.http.insert_response_via_str INT 1",
                "CONFIG proxy.config.http.verbose_via_str INT 2");
        assertHas("response: full");
        assertOutcome(Outcome.MAPPED, "records.config", 2, "via.response");
    }

    @Test
    void requestsWaitForEachOtherAsLongAsTheyWouldHavePolled() {
        samples.file(
                "records.config",
                "CONFIG proxy.config.http.cache.max_open_read_retries INT 5",
                "CONFIG proxy.config.http.cache.open_read_retry_time INT 100");
        assertHas("collapse_wait: 500ms");
    }

    @Test
    void nobodyIsForwardedUnaskedWhereNoFileSaysWho() {
        samples.file("records.config", "CONFIG proxy.config.url_remap.remap_required INT 0");
        samples.file("ip_allow.config", "src_ip=0.0.0.0-255.255.255.255 action=ip_deny method=PURGE");
        assertHas("enabled: true");
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

    @Test
    void ruleWhoseFilterAllowsDoesNotOpenWhatIpAllowDenies() {
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
    void ruleForInternalRequestsAloneLetsNobodyInNorAWiderRuleAfterIt() {
        samples.file(
                "remap.config",
                "map http://a.example/x/ http://b.example/x/ @action=allow @internal",
                "map http://a.example/ http://b.example/");
        assertHas(
                "- map: http://a.example/x/\n    to: http://b.example/x/\n    filters:\n      - action: deny\n  - map");
        assertOutcome(Outcome.MAPPED, "remap.config", 1, "own requests alone");
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
    void methodsThatNobodyKnowsAreRefusedByARuleWhereIpAllowListsThoseThatPass() {
        samples.file("ip_allow.config", "src_ip=0.0.0.0-255.255.255.255 action=ip_allow method=GET|HEAD");
        samples.file("remap.config", "map http://a.example/ http://b.example/ @action=allow @src_ip=10.0.0.0/8");
        assertHas(
                "filters:\n      - no-push\n      - action: allow\n        src_ip: [10.0.0.0/8]\n        methods: [GET, HEAD]\n      - ip-allow-1");
        assertHas("- name: ip-allow-1\n    action: deny\n    src_ip: [0.0.0.0/0]");
    }

    @Test
    void ruleThatIsTakenOutWithItsFiltersSaysSo() {
        samples.file(
                "remap.config",
                "regex_map http://(?=a)(.*)/x/ http://b.example/ @action=allow @src_ip=10.0.0.0/8",
                "map http://a.example/ http://b.example/");
        assertOutcome(Outcome.NOT_MAPPED, "remap.config", 1, "a wider rule without them");
    }

    @Test
    void charactersThatYamlHasNotAreEscapedOrInCommentsLeftOut() {
        assertEquals("\"a\\u0001\\u000a\\\"\\\\\"", DraftWriter.quoted("a\u0001\n\"\\"));
        samples.file("records.yaml", "records:", "  proxy_name: \"a\\x01b\"");
        samples.file("remap.config", "map / http://o.example/ @plugin=\uffff.so");
        assertHas("- map: /");
        assertOutcome(Outcome.NOT_MAPPED, "remap.config", 1, "Millrace loads no plugins");
        assertEquals("records.yaml", samples.line("records.yaml", 2).file());
    }

    @Test
    void markAtTheBeginningOfAFileIsNoneOfItsText() {
        samples.file("remap.config", "\ufeffmap / http://o.example/");
        assertHas("- map: /");
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
    void ofDeepLinksTheRuleIsPlainWhereTheRecordIsOff() {
        String rule = "map_with_referer http://a.example/ http://b.example/ http://c.example/ .*\\.a\\.example";
        samples.file("remap.config", rule);
        assertHas("- map: http://a.example/");
        samples.file("records.config", "CONFIG proxy.config.http.referer_filter INT 1");
        assertHas("- map_with_referer: http://a.example/");
        assertHas("referer_redirect: http://c.example/");
    }

    @Test
    void whatTheValidatorRefusesIsTakenOutAndNamed() {
        samples.file(
                "remap.config",
                "regex_map http://(?=a)b.example/ http://o.example/",
                "map http://ok.example/ http://o.example/ @volume=9",
                "map http://bad.example/ ftp://o.example/");
        assertHas("- map: http://ok.example/");
        assertLacks("bad.example");
        assertOutcome(Outcome.NOT_MAPPED, "remap.config", 1, "is not an expression");
        assertOutcome(Outcome.NOT_MAPPED, "remap.config", 2, "no such volume");
        assertOutcome(Outcome.NOT_MAPPED, "remap.config", 3, "the scheme 'ftp' is not supported");
        assertEquals(List.of("remap[0]"), samples.line("remap.config", 2).keys());
    }

    @Test
    void volumeThatIsRefusedIsTakenFromItsRulesToo() {
        samples.file("storage.config", "/var/cache/one 10G");
        samples.file("volume.config", "volume=1 scheme=http size=100%");
        samples.file("remap.config", "map http://a.example/ http://o.example/ @volume=1");
        assertHas("- map: http://a.example/");
        assertLacks("volume-1");
        assertOutcome(Outcome.NOT_MAPPED, "volume.config", 1, "above the limit of 99%");
    }

    @Test
    void includedFilesStandInPlaceOfTheDirective() {
        samples.file("remap.config", ".include more.config", "map http://z.example/ http://o.example/");
        samples.file("more.config", "map http://a.example/ http://o.example/");
        assertTrue(samples.yaml().indexOf("a.example") < samples.yaml().indexOf("z.example"));
        assertOutcome(Outcome.MAPPED, "more.config", 1, "remap[0]");
    }

    @Test
    void directoryIsIncludedFileByFileAndAFileTwiceHasItsLinesOnce() throws IOException {
        Files.createDirectories(directory.resolve("rules/below"));
        samples.file(
                "remap.config", ".include on.config rules", ".include on.config", "map http://z.example/ http://o/");
        samples.file("on.config", ".definefilter f @action=deny @method=PUT", ".activatefilter f");
        samples.file("rules/b.config", "map http://b.example/ http://o/");
        samples.file("rules/a.config", "map http://a.example/ http://o/");
        samples.file("rules/.c", "map http://c.example/ http://o/");
        samples.file("rules/below/d.config", "map http://d.example/ http://o/");
        String yaml = samples.yaml();
        assertTrue(yaml.indexOf("c.example") < yaml.indexOf("a.example"), yaml);
        assertTrue(yaml.indexOf("a.example") < yaml.indexOf("b.example"), yaml);
        assertTrue(yaml.indexOf("b.example") < yaml.indexOf("z.example"), yaml);
        assertLacks("d.example");
        assertOutcome(Outcome.MAPPED, "on.config", 1, "filters[0]");
        assertEquals(3, yaml.split("- f\n", -1).length - 1);
        assertHas("- f-2\n");
        samples.file("on.config", ".include remap.config");
        assertProblem("on.config:1:10", "remap.config includes itself");
    }

    @Test
    void nobodyIsForwardedUnaskedWhereSeveralRangesAreEverybody() {
        samples.file("records.config", "CONFIG proxy.config.url_remap.remap_required INT 0");
        samples.file(
                "ip_allow.config",
                "src_ip=0.0.0.0-127.255.255.255 action=ip_allow",
                "src_ip=128.0.0.0-255.255.255.255 action=ip_allow");
        assertHas("allow: [127.0.0.0/8, 10.0.0.0/8,");
        assertOutcome(Outcome.NOT_MAPPED, "records.config", 1, "open proxy");
    }

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
    void redirectionsForThisTimeStandBeforeThoseForGood() {
        samples.file(
                "remap.config",
                "redirect_temporary http://z.example/ http://o.example/z/",
                "map http://m.example/ http://o.example/",
                "redirect http://a.example/ http://o.example/a/",
                "redirect http://b.example/ http://o.example/b/",
                "redirect_temporary http://a.example/ http://o.example/t/");
        String yaml = samples.yaml();
        assertTrue(yaml.indexOf("http://o.example/t/") < yaml.indexOf("http://o.example/a/"), yaml);
        assertTrue(yaml.indexOf("http://m.example/") < yaml.indexOf("http://o.example/t/"), yaml);
        assertTrue(yaml.indexOf("http://o.example/a/") < yaml.indexOf("http://o.example/b/"), yaml);
        assertOutcome(Outcome.MAPPED, "remap.config", 5, "remap[2]");
        assertOutcome(Outcome.MAPPED, "remap.config", 3, "remap[3]");
    }

    @Test
    void whatOriginsSayOfNoCacheIsIgnoredOnlyWhereNoStoreIsToo() {
        samples.file("records.config", "CONFIG proxy.config.http.cache.ignore_server_no_cache INT 1");
        samples.file(
                "cache.config", "dest_domain=o action=ignore-server-no-cache", "dest_domain=o action=ignore-no-cache");
        samples.file(
                "remap.config",
                "map http://a.example/ http://o/ @plugin=conf_remap.so @pparam=proxy.config.http.cache.ignore_server_no_cache=1");
        assertLacks("ignore_server_no_cache");
        assertOutcome(Outcome.NOT_MAPPED, "records.config", 1, "no-store would be ignored as well");
        assertOutcome(Outcome.NOT_MAPPED, "cache.config", 1, "no-store would be ignored as well");
        assertOutcome(Outcome.NOT_MAPPED, "cache.config", 2, "no-store would be ignored as well");
        assertOutcome(Outcome.NOT_MAPPED, "remap.config", 1, "no-store would be ignored as well");
        assertHas("action: ignore_client_no_cache");
        samples.file("records.yaml", "records: {http: {cache: {ignore_server_no_cache: 1}}}");
        assertHas("ignore_server_no_cache: true");
        assertHas("action: ignore_server_no_cache");
        assertHas("action: ignore_no_cache");
    }

    @Test
    void whatIsSaidOfCertificatesOfOriginsMattersWhereOneIsAskedByHttps() {
        samples.file(
                "records.config",
                "CONFIG proxy.config.ssl.client.verify.server.policy STRING PERMISSIVE",
                "CONFIG proxy.config.ssl.client.CA.cert.filename STRING ca.pem");
        samples.file("remap.config", "map http://a.example/ http://o.example/");
        assertOutcome(Outcome.NO_EFFECT, "records.config", 1, "no rule leads to an origin by https");
        assertOutcome(Outcome.NO_EFFECT, "records.config", 2, "no rule leads to an origin by https");
        samples.file("remap.config", "map http://a.example/ https://o.example/");
        assertOutcome(Outcome.NOT_MAPPED, "records.config", 1, "always verified");
        assertOutcome(Outcome.NOT_MAPPED, "records.config", 2, "this machine's Java trusts");
    }

    @Test
    void socksIsNamedWhereItIsUsed() {
        samples.file("socks.config", "no_socks 192.0.2.1");
        assertOutcome(Outcome.NO_EFFECT, "socks.config", 1, "socks_needed is off");
        samples.file("records.config", "CONFIG proxy.config.socks.socks_needed INT 1");
        assertOutcome(Outcome.NOT_MAPPED, "socks.config", 1, "not reached through SOCKS");
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

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "records.config|CONFIG proxy.config.http.cache.http INT yes|records.config:1:1|is not an integer",
                "records.config|'  CONFIG proxy.config.http.cache.http'|records.config:1:3|is not a record",
                "records.config|CONFIG proxy.config.http.insert_response_via_str INT 9|records.config:1:1|none of 0 to 4",
                "records.yaml|records: [|records.yaml:2:1|YAML",
                "records.yaml|other: 1|records.yaml:1:1|no records:",
                "remap.config|mapp http://a/ http://b/|remap.config:1:1|no kind of rule",
                "remap.config|map http://a/|remap.config:1:1|needs two URLs",
                "remap.config|map http://a/ http://b/ @src_ip=10.0.0|remap.config:1:25|neither an address",
                "remap.config|map http://a/ http://b/ @pparam=\"x @action=deny|remap.config:1:1|a quote is not closed",
                "records.config|CONFIG proxy.config.http.cache.heuristic_lm_factor FLOAT 1e999999999|records.config:1:1|not a number",
                "remap.config|.activatefilter none|remap.config:1:1|no filter is named",
                "remap.config|.include none.config|remap.config:1:10|no such file",
                "cache.config|dest_domain=a ttl-in-cache=long|cache.config:1:15|is not a time",
                "cache.config|dest_domain=a|cache.config:1:1|says nothing of what to do",
                "ip_allow.config|src_ip=10.0.0 action=ip_allow|ip_allow.config:1:1|neither an address",
                "storage.config|/data lots|storage.config:1:1|is not an integer",
                "volume.config|volume=1|volume.config:1:1|volume= and size="
            })
    void brokenFilesAreNamedByPlaceAndNothingIsWritten(String file, String line, String place, String said) {
        samples.file(file, line);
        assertProblem(place, said);
    }

    @Test
    void commentsInLatin1AreNoError() throws IOException {
        Files.write(
                directory.resolve("remap.config"),
                "# f\u00fcr alle\nmap / http://o.example/\n".getBytes(StandardCharsets.ISO_8859_1));
        assertHas("- map: /");
    }

    @Test
    void directoryWithoutAnyFileOfTrafficServerIsAnError() {
        assertEquals(
                List.of(directory + ": has none of Traffic Server's files, such as records.yaml or remap.config"),
                samples.result().problems());
        Path missing = directory.resolve("missing");
        assertEquals(
                List.of(missing + ": no such directory"),
                AtsImport.read(missing, null).problems());
    }

    @Test
    void textsThatYamlWouldReadOtherwiseAreQuoted() {
        for (String text : List.of(
                "yes", "~", "- a", "a: b", "x # y", "'", "{a}", "[a]", "*", "&a", "!b", "%", "@", "`", "null", "1:2",
                "")) {
            String quoted = DraftWriter.quoted(text);
            assertTrue(text.isEmpty() || quoted.startsWith("'"), quoted);
        }
        assertEquals("'$${HOME}'", DraftWriter.quoted("${HOME}"));
        assertEquals("http://a.example:8080/b", DraftWriter.quoted("http://a.example:8080/b"));
    }

    static LongStream seeds() {
        return LongStream.rangeClosed(1, Integer.getInteger("millrace.import.seeds", 10));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void whateverIsReadTheOutputPassesTheCheckAndNoLineIsLost(long seed) throws IOException {
        Random random = new Random(seed);
        String[] words = {
            "map",
            "redirect",
            "regex_map",
            "http://a.example/",
            "http://b.example:99999/",
            "/",
            "@action=allow",
            "@src_ip=10.0.0.1",
            "@method=get",
            "@plugin=x.so",
            "@volume=1",
            "http://[",
            "https://c.example/'\"",
            "$1",
            "#",
            "CONFIG",
            "proxy.config.http.cache.required_headers",
            "INT",
            "2",
            "-1",
            "proxy.config.http.server_ports",
            "STRING",
            "8080",
            "dest_domain=x",
            "revalidate=1h",
            "ttl-in-cache=0",
            "action=never-cache",
            "/data",
            "1G",
            "volume=1",
            "size=50%",
            "parent=\"p:80\"",
            "src_ip=0/0",
            "action=ip_deny",
            "method=PURGE",
            "${HOME}",
            "\u202e",
            "\\"
        };
        for (String file : List.of(
                "records.config",
                "remap.config",
                "cache.config",
                "storage.config",
                "volume.config",
                "parent.config",
                "ip_allow.config")) {
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < 12; i++) {
                for (int j = random.nextInt(6); j >= 0; j--) {
                    text.append(words[random.nextInt(words.length)]).append(' ');
                }
                text.append('\n');
            }
            Files.writeString(directory.resolve(file), text);
        }
        AtsImport.Result result = samples.result();
        assertTrue(result.yaml() != null || !result.problems().isEmpty(), "seed " + seed);
        // Each line that Traffic Server would refuse is taken away until the rest can be read.
        for (int round = 0; round < 200 && result.yaml() == null; round++) {
            for (String problem : result.problems()) {
                String[] parts =
                        problem.substring(directory.toString().length() + 1).split(":", 3);
                Path file = directory.resolve(parts[0]);
                List<String> lines = new ArrayList<>(Files.readAllLines(file));
                lines.set(Integer.parseInt(parts[1]) - 1, "");
                Files.write(file, lines);
            }
            result = AtsImport.read(directory, null);
        }
        String yaml = String.valueOf(result.yaml());
        assertTrue(ConfigLoader.parse(yaml, "millrace.yaml", Map.of()).isOk(), "seed " + seed + "\n" + yaml);
    }

    @Test
    void linesOfCacheConfigAreForTheUrlsThatRulesLeadTo() {
        samples.file(
                "remap.config",
                "map http://a.example/js/ http://one.internal/scripts/",
                "map https://b.example/ https://two.internal:8443/b/",
                "regex_map http://(\\D+)\\.c\\.example/ http://one.internal/",
                "map / http://three.internal/");
        samples.file(
                "cache.config",
                "dest_domain=internal scheme=https port=8443 ttl-in-cache=1h",
                "dest_host=one.internal prefix=scripts/old action=never-cache",
                "dest_host=one.internal prefix=other revalidate=1h",
                "dest_host=three.internal revalidate=2h",
                "dest_host=three.internal action=never-cache",
                "dest_domain=a.example ttl-in-cache=2h",
                "dest_domain=a.example action=never-cache",
                "suffix=gif revalidate=6h");
        assertHas("""
                cache_rules:
                  - dest_host: b.example
                    ttl_in_cache: 1h
                  - dest_host: a.example
                    prefix: /js/old
                    action: never_cache
                  - host_regex: '^(?:(\\D+)\\.c\\.example)$'
                    prefix: /scripts/old
                    action: never_cache
                  - host_regex: '^(?:(\\D+)\\.c\\.example)$'
                    prefix: /other
                    revalidate: 1h
                  - dest_domain: .
                    action: never_cache
                  - dest_domain: a.example
                    action: never_cache
                  - suffix: gif
                    revalidate: 6h
                """);
        assertOutcome(Outcome.NOT_MAPPED, "cache.config", 4, "which is for every host that no other rule names");
        assertOutcome(Outcome.NO_EFFECT, "cache.config", 6, "none leads there");
        assertOutcome(Outcome.MAPPED, "cache.config", 7, "kept for clients' URLs");
    }
}
