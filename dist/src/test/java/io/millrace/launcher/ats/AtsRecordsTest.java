package io.millrace.launcher.ats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.importing.source.ImportedLine;
import io.millrace.launcher.importing.source.Outcome;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the import of records, and the keys that are written without a record. */
final class AtsRecordsTest extends AtsFixture {
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
                "cache.ram_cache.use_seen_filter INT 0|'ram_admission: always'|MAPPED",
                "cache.ram_cache.use_seen_filter INT 1|'cache.ram_admission'|SAME_AS_DEFAULT",
                "http.use_client_target_addr INT 1|'destination of a diverted connection is not used'|NOT_MAPPED",
                "cache.ram_cache.use_seen_filter INT 5|'cache.ram_admission'|SAME_AS_DEFAULT",
                "http.cache.heuristic_lm_factor FLOAT 0.20|'heuristic_lm_factor: 0.2'|MAPPED",
                "http.negative_caching_list STRING 404 410|'list: [404, 410]'|MAPPED",
                "http.cache.ignore_authentication INT 0|'reuse_with_authorization: if_allowed'|MAPPED",
                "http.cache.ignore_authentication INT 0|'ignore_authentication: false'|MAPPED",
                "http.cache.ignore_authentication INT 1|'cache.reuse_with_authorization'|SAME_AS_DEFAULT",
                "http.insert_response_via_str INT 3|'response: full'|MAPPED",
                "http.response_server_enabled INT 0|'via.server'|SAME_AS_DEFAULT",
                "http.per_server.connection.max INT 0|'connections_max: 1000000'|MAPPED",
                "http.per_server.connection.max INT 200|'connections_total_max: 200'|MAPPED",
                "http.per_server.connection.match STRING ip|'each host and port'|NOT_MAPPED",
                "http.transaction_active_timeout_in INT 600|'transaction: 10m'|MAPPED",
                "http.transaction_active_timeout_in INT 0|'timeouts.transaction'|SAME_AS_DEFAULT",
                "http.transaction_active_timeout_out INT 60|'on both sides together'|NOT_MAPPED",
                "outgoing_ip_to_bind STRING 192.0.2.7 [2001:db8::7]|'source_address: [192.0.2.7,'|MAPPED",
                "stop.shutdown_timeout INT 10|'drain: 10s'|MAPPED",
                "srv_enabled INT 1|'srv: true'|MAPPED",
                "hostdb.ip_resolve STRING ipv6;ipv4|'prefer: ipv6'|MAPPED",
                "http.keep_alive_no_activity_timeout_in INT 0|'below the limit of 10ms'|NOT_MAPPED",
                "http.flow_control.enabled INT 1|'cache.fill_window'|NO_EFFECT",
                "net.per_client.max_connections_in INT 100|'connections: 100'|MAPPED",
                "http.push_method_enabled INT 0|''|MAPPED",
                "http.push_method_enabled INT 1|'nothing is stored by PUSH'|NOT_MAPPED",
                "http.drop_chunked_trailers INT 0|'trailers are always dropped'|NOT_MAPPED",
                "http.drop_chunked_trailers INT 1|'Millrace always behaves this way'|NO_EFFECT",
                "http.cache.post_method INT 0|'post_method: false'|MAPPED",
                "http.cache.post_method INT 1|'Content-Location'|NOT_MAPPED",
                "http.connect_ports STRING 443|'forward_proxy is off'|NO_EFFECT",
                "ssl.hsts_max_age INT 31536000|'max_age: 365d'|MAPPED",
                "ssl.hsts_max_age INT -1|'no Strict-Transport-Security is added'|NO_EFFECT",
                "http.normalize_ae INT 0|'off, as in Millrace'|NO_EFFECT",
                "http.normalize_ae INT 1|'unchanged'|NOT_MAPPED",
                "http.strict_uri_parsing INT 1|'Millrace always behaves this way'|NO_EFFECT",
                "http.strict_uri_parsing INT 2|'Millrace always behaves this way'|NO_EFFECT",
                "http.strict_uri_parsing INT 0|'RFC 9112'|NOT_MAPPED",
                "http.cache.ignore_accept_mismatch INT 2|'Millrace always behaves this way'|NO_EFFECT",
                "http.cache.ignore_accept_mismatch INT 0|'by Vary only'|NOT_MAPPED",
                "http.auth_server_session_private INT 1|'of any client'|NOT_MAPPED",
                "http.auth_server_session_private INT 0|'off, as in Millrace'|NO_EFFECT",
                "http.max_proxy_cycles INT 1|'always refused'|NOT_MAPPED",
                "http.connect_attempts_max_retries INT 3|'is tried once'|NOT_MAPPED",
                "http.connect_attempts_max_retries INT 0|'off, as in Millrace'|NO_EFFECT",
                "http.forward_connect_method INT 1|'never by a rule'|NOT_MAPPED",
                "http.uncacheable_requests_bypass_parent INT 1|'there are no parents'|NO_EFFECT",
                "http.parent_proxy.disable_parent_markdowns INT 1|'origins[].markdown'|NOT_MAPPED",
                "http.parent_proxy_routing_enable INT 0|'up to version 7'|NOT_MAPPED",
                "cache.vary_on_user_agent INT 1|'cache.key.fields'|NOT_MAPPED",
                "ssl.server.cipher_suite STRING AES128|'no address of listen has tls'|NO_EFFECT",
                "ssl.client.CA.cert.filename STRING NULL|'is empty'|NO_EFFECT",
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
    void defaultsOfTrafficServerAreWrittenWhereMillraceDiffers() {
        samples.file("remap.config", "map / http://origin.example/");
        for (String text : List.of(
                "required_headers: lifetime",
                "reuse_with_authorization: if_allowed",
                "guessed_lifetime_with_cookies: all",
                "unshared_fields: [Set-Cookie]",
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
                                "# Traffic Server's default (proxy.config.http.cache.required_headers); without the line: none"));
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
        assertOutcome(Outcome.NO_EFFECT, "records.config", 1, "records.config:2 sets the record again");
    }

    @Test
    void keysNameTheLineThatTheyComeFrom() {
        samples.file("records.config", "", "# a comment", "CONFIG proxy.config.cache.max_doc_size INT 1M");
        samples.file("remap.config", "", "map / \\", "  http://origin.example/");
        String yaml = String.valueOf(samples.result().yaml());
        assertTrue(yaml.contains("max_object_size: 1MiB  # records.config:3\n"), yaml);
        assertTrue(yaml.contains("- map: /  # remap.config:2\n"), yaml);
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
    void noCacheOfOriginsIsIgnoredOnlyTogetherWithNoStore() {
        samples.file("records.config", "CONFIG proxy.config.http.cache.ignore_server_no_cache INT 1");
        samples.file(
                "cache.config", "dest_domain=o action=ignore-server-no-cache", "dest_domain=o action=ignore-no-cache");
        samples.file(
                "remap.config",
                "map http://a.example/ http://o/ @plugin=conf_remap.so @pparam=proxy.config.http.cache.ignore_server_no_cache=1");
        assertLacks("ignore_server_no_cache");
        assertOutcome(Outcome.NOT_MAPPED, "records.config", 1, "no-store would also be ignored");
        assertOutcome(Outcome.NOT_MAPPED, "cache.config", 1, "no-store would also be ignored");
        assertOutcome(Outcome.NOT_MAPPED, "cache.config", 2, "no-store would also be ignored");
        assertOutcome(Outcome.NOT_MAPPED, "remap.config", 1, "no-store would also be ignored");
        assertHas("action: ignore_client_no_cache");
        samples.file("records.yaml", "records: {http: {cache: {ignore_server_no_cache: 1}}}");
        assertHas("ignore_server_no_cache: true");
        assertHas("action: ignore_server_no_cache");
        assertHas("action: ignore_no_cache");
    }

    @Test
    void certificateSettingsOfOriginsNeedAnHttpsOrigin() {
        samples.file(
                "records.config",
                "CONFIG proxy.config.ssl.client.verify.server.policy STRING PERMISSIVE",
                "CONFIG proxy.config.ssl.client.CA.cert.filename STRING ca.pem");
        samples.file("remap.config", "map http://a.example/ http://o.example/");
        assertOutcome(Outcome.NO_EFFECT, "records.config", 1, "no rule has an https origin");
        assertOutcome(Outcome.NO_EFFECT, "records.config", 2, "no rule has an https origin");
        samples.file("remap.config", "map http://a.example/ https://o.example/");
        assertHas("verify: warn");
        assertHas("/ca.pem");
        samples.file(
                "records.config",
                "CONFIG proxy.config.ssl.client.verify.server.policy STRING ENFORCED",
                "CONFIG proxy.config.ssl.client.verify.server.properties STRING SIGNATURE",
                "CONFIG proxy.config.ssl.client.cert.filename STRING own.pem",
                "CONFIG proxy.config.ssl.client.private_key.filename STRING own.key",
                "CONFIG proxy.config.ssl.client.private_key.path STRING /keys",
                "CONFIG proxy.config.ssl.client.sni_policy STRING host");
        assertHas("verify: chain");
        assertHas("/own.pem");
        assertHas("/keys/own.key");
        assertHas("sni: host");
        samples.file("records.config", "CONFIG proxy.config.ssl.client.verify.server.policy STRING MOOD");
        assertOutcome(Outcome.NOT_MAPPED, "records.config", 1, "origin.tls.verify");
    }

    @Test
    void socksIsNamedWhereItIsUsed() {
        samples.file("socks.config", "no_socks 192.0.2.1");
        assertOutcome(Outcome.NO_EFFECT, "socks.config", 1, "socks_needed is off");
        samples.file("records.config", "CONFIG proxy.config.socks.socks_needed INT 1");
        assertOutcome(Outcome.NOT_MAPPED, "socks.config", 1, "through SOCKS");
    }

    /** Traffic Server also applies rules to CONNECT. */
    @Test
    void tunnelsGoByNoRule() {
        samples.file("records.config", "CONFIG proxy.config.http.connect_ports STRING 443 563");
        samples.file("remap.config", "map / http://origin.example/");
        assertOutcome(Outcome.NOT_MAPPED, "records.config", 1, "CONNECT does not use rules of remap");
    }

    /** Version 11 evaluates CDN-Cache-Control, version 10.2 no targeted field, and others do not have the record. */
    @Test
    void targetedFieldsOfTheVersionThatTheDirectoryShows() {
        samples.file("records.yaml", "records: {http: {server_ports: 8080}}");
        assertHas("targeted_cache_control: []");
        samples.file("ssl_multicert.yaml", "ssl_multicert: []");
        assertLacks("targeted_cache_control");
        samples.file("records.yaml", "records: {http: {cache: {targeted_cache_control_headers: ''}}}");
        assertOutcome(Outcome.NO_EFFECT, "records.yaml", 1, "default applies");
        samples.file("records.yaml", "records: {http: {cache: {targeted_cache_control_headers: X-Cache-Control}}}");
        assertHas("targeted_cache_control: [X-Cache-Control]");
    }

    @ParameterizedTest
    @CsvSource({"100%", "1G"})
    void volumeOfTheWholeCacheIsShared(String size) {
        samples.file(
                "storage.yaml",
                "cache:",
                "  spans:",
                "    - {name: s, path: /x, size: 1G}",
                "  volumes:",
                "    - {id: 1, size: " + size + "}");
        samples.file("hosting.config", "hostname=a.example volume=1");
        samples.file("remap.config", "map http://a.example/ http://o.example/ @volume=1");
        assertLacks("volumes:");
        assertOutcome(Outcome.NO_EFFECT, "storage.yaml", 5, "the whole cache");
        assertOutcome(Outcome.NO_EFFECT, "hosting.config", 1, "the whole cache");
        assertEquals(Outcome.MAPPED, samples.line("remap.config", 1).outcome());
    }

    @Test
    void volumeWithoutASizeIsNoFault() {
        samples.file(
                "storage.yaml",
                "cache:",
                "  spans:",
                "    - {name: s, path: /x, size: 1G}",
                "  volumes:",
                "    - {id: 1}");
        samples.file("hosting.config", "hostname=a.example volume=1");
        assertOutcome(Outcome.NOT_MAPPED, "storage.yaml", 5, "set volumes[].share");
    }

    /** As in Traffic Server's manual: YAML reads {@code ::/0} as a plain scalar. */
    @Test
    void addressesThatBeginWithAColonNeedNoQuotes() {
        samples.file(
                "ip_allow.yaml",
                "ip_allow:",
                "  - {apply: in, ip_addrs: [0/0, ::/0], action: set_allow, methods: [GET]}",
                "  - apply: in",
                "    ip_addrs: [::1, 127.0.0.1,",
                "      ::2 ]",
                "    action: set_allow",
                "    methods: ALL");
        assertTrue(samples.yaml().contains("::/0") || samples.yaml().contains("filters"), samples.yaml());
        assertEquals(List.of(), samples.result().problems());
        assertOutcome(Outcome.MAPPED, "ip_allow.yaml", 2, "access.filters");
        samples.file("ip_allow.yaml", "ip_allow:", "  - {ip_addrs: [::/0, action: set_allow}");
        assertProblem("ip_allow.yaml:2:42", "expected ',' or ']'");
    }

    @Test
    void lineForOneUrlIsAnExpressionForTheWholeOfIt() {
        samples.file("remap.config", "map http://a.example/ http://a.example/");
        samples.file("cache.config", "url=http://a.example/x.html?q=1 ttl-in-cache=1h", "tag=x action=never-cache");
        assertHas("url_regex: '^http://a\\.example/x\\.html\\?q=1$'");
        assertOutcome(Outcome.MAPPED, "cache.config", 1, "cache_rules[0]");
        assertOutcome(Outcome.NOT_MAPPED, "cache.config", 2, "tag: Millrace has no tags for requests");
    }
}
