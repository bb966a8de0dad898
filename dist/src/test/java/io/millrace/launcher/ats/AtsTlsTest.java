package io.millrace.launcher.ats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.importing.source.ImportedLine;
import io.millrace.launcher.importing.source.Outcome;
import io.millrace.proxy.config.tls.ServerTlsConfig.ClientCertificates;
import io.millrace.proxy.config.tls.TlsConfig;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests TLS settings for clients: ssl.* records, ssl_multicert.config, and sni.yaml with certificates whose names are
 * known.
 */
final class AtsTlsTest extends AtsClientsFixture {
    /** Names of site.pem: www.x.example, x.example, admin.x.example; of wild.pem: *.y.example, deep.a.y.example, y.example. */
    private static final String[] TWO = {
        "dest_ip=* ssl_cert_name=site.pem ssl_key_name=site.key", "ssl_cert_name=wild.pem ssl_key_name=wild.key"
    };

    private void certificates(String... lines) throws IOException {
        for (String name : List.of("site.pem", "wild.pem")) {
            try (InputStream in = AtsTlsTest.class.getResourceAsStream(name)) {
                Files.copy(in, directory.resolve(name));
            }
        }
        samples.file("site.key", "").file("wild.key", "").file("ca.pem", "");
        samples.file("ssl_multicert.config", lines);
    }

    private void ports(String... more) {
        List<String> lines = new ArrayList<>(List.of("CONFIG proxy.config.http.server_ports STRING 8443:ssl"));
        for (String each : more) {
            lines.add("CONFIG proxy.config." + each);
        }
        samples.file("records.config", lines.toArray(String[]::new));
    }

    private void sni(String... lines) {
        List<String> all = new ArrayList<>(List.of("sni:"));
        all.addAll(List.of(lines));
        samples.file("sni.yaml", all.toArray(String[]::new));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ssl.server.version.min INT 3|'only if both bounds'|NO_EFFECT",
                "ssl.server.cipher_suite STRING ECDHE-RSA-AES128-GCM-SHA256:AES128-SHA:!aNULL|'ciphers: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, TLS_RSA_WITH_AES_128_CBC_SHA]'|MAPPED",
                "ssl.server.cipher_suite STRING ECDHE-RSA-AES128-GCM-SHA256:AES128-SHA:-AES128-SHA:RC4-SHA!SRP|'ciphers: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]'|MAPPED",
                "ssl.server.cipher_suite STRING HIGH:!aNULL|'list cipher suites'|NOT_MAPPED",
                "ssl.server.TLSv1_3.cipher_suites STRING TLS_AES_128_GCM_SHA256|'are fixed'|NOT_MAPPED",
                "ssl.server.groups_list STRING X25519:prime256v1:kyber|'groups: [x25519, P-256]'|MAPPED",
                "ssl.server.groups_list STRING kyber|'does not support kyber'|NOT_MAPPED",
                "ssl.TLSv1_2 INT 0|'min_version: TLSv1.3'|MAPPED",
                "ssl.TLSv1_3.enabled INT 0|'max_version: TLSv1.2'|MAPPED",
                "ssl.TLSv1_3.enabled INT 1|'Millrace always behaves this way'|NO_EFFECT",
                "ssl.TLSv1 INT 1|'below 1.2'|NOT_MAPPED",
                "ssl.server.ticket_key.filename STRING keys|'ticket_keys_file: '|MAPPED",
                "ssl.ocsp.enabled INT 0|'ocsp_stapling: false'|MAPPED",
                "ssl.ocsp.enabled INT 1|'tls.ocsp_stapling'|SAME_AS_DEFAULT",
                "ssl.ocsp.update_period INT 60|'half of an answer'|NO_EFFECT",
                "ssl.ocsp.response.path STRING /var/ocsp|'the proxy requests answers'|NOT_MAPPED",
                "ssl.client.certification_level INT 0|'tls.client_certificates'|SAME_AS_DEFAULT",
                "ssl.client.certification_level INT 1|'has no file'|NOT_MAPPED",
                "ssl.CA.cert.filename STRING ca.pem|'if clients are asked'|NO_EFFECT",
                "ssl.server.session_ticket.enable INT 0|'issued for all names'|NOT_MAPPED",
                "ssl.server.session_ticket.number INT 3|'of BoringSSL'|NO_EFFECT",
                "ssl.ktls.enabled INT 1|'in the worker'|NOT_MAPPED",
                "http.host_sni_policy INT 2|'Millrace always behaves this way'|NO_EFFECT",
                "http.host_sni_policy INT 0|'always refused'|NOT_MAPPED",
                "http2.max_concurrent_streams_in INT 250|'streams: 250'|MAPPED",
                "http2.max_header_list_size INT 131072|'header_list: 128KiB'|MAPPED",
                "http2.max_ping_frames_per_minute INT 60|'its own limits'|NO_EFFECT",
                "http2.enabled INT 0|'http2: false'|NOT_MAPPED",
            })
    void recordsOfTls(String record, String said, Outcome outcome) throws IOException {
        certificates(TWO);
        ports(record);
        ImportedLine line = samples.line("records.config", 2);
        assertEquals(outcome, line.outcome(), line::toString);
        if (outcome == Outcome.MAPPED) {
            assertHas(said);
        } else {
            assertTrue((line.keys() + line.note()).contains(said), line::toString);
        }
        checked();
    }

    @Test
    void bothBoundsOfVersionsGoBeforeSingleOnes() throws IOException {
        certificates(TWO);
        ports("ssl.server.version.min INT 2", "ssl.server.version.max INT 2", "ssl.TLSv1_2 INT 0", "ssl.TLSv1 INT 1");
        assertHas("max_version: TLSv1.2");
        assertLacks("min_version");
        assertOutcome(Outcome.SAME_AS_DEFAULT, "records.config", 2, "tls.min_version");
        assertOutcome(Outcome.NO_EFFECT, "records.config", 4, "take precedence");
        assertOutcome(Outcome.NO_EFFECT, "records.config", 5, "take precedence");
    }

    @Test
    void addressForClientsWithCertificatesOnlyRequestsThem() throws IOException {
        certificates(TWO);
        ports("ssl.client.certification_level INT 2", "ssl.CA.cert.filename STRING ca.pem");
        assertEquals(
                ClientCertificates.REQUIRE,
                checked().listeners().get(0).tls().settings().clientCertificates());
        assertHas("client_ca_file: " + directory.resolve("ca.pem"));
    }

    @Test
    void withoutTlsNothingOfItIsWritten() {
        samples.file(
                "records.config",
                "CONFIG proxy.config.http.server_ports STRING 8080",
                "CONFIG proxy.config.ssl.ocsp.enabled INT 0");
        assertLacks("tls");
        assertOutcome(Outcome.NO_EFFECT, "records.config", 2, "no address of listen has tls");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ssl_ca_name=chain.pem|append the chain|NOT_MAPPED",
                "ssl_ocsp_name=staple.der|tls.ocsp_stapling|NOT_MAPPED",
                "ssl_key_dialog=builtin|openssl pkey|NOT_MAPPED",
                "action=tunnel|TCP proxy|NOT_MAPPED",
                "ticket_key_name=keys|tls.ticket_keys_file|NOT_MAPPED",
                "ssl_ticket_enabled=0|issued for all names|NOT_MAPPED",
                "ssl_ticket_enabled=1|of BoringSSL|MAPPED",
                "ssl_ticket_number=4|of BoringSSL|MAPPED",
                "made_up=1|made_up is not understood|NOT_MAPPED",
                "dest_ip=192.0.2.1|not by the address|MAPPED",
            })
    void fieldsOfCertificates(String field, String said, Outcome outcome) throws IOException {
        certificates(TWO[0], "ssl_cert_name=wild.pem ssl_key_name=wild.key " + field);
        ports();
        assertOutcome(outcome, "ssl_multicert.config", 2, said);
        checked();
    }

    @Test
    void certificateForNamesThatItsLineHas() throws IOException {
        certificates("dest_fqdn=a.example ssl_cert_name=site.pem ssl_key_name=site.key");
        ports();
        assertHas("names: [a.example]");
        checked();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "http2: off|'http2: false'|MAPPED",
                "disable_h2: true|'http2: false'|MAPPED",
                "http2: on|'offers HTTP/2 by default'|NO_EFFECT",
                "valid_tls_version_min_in: TLSv1_3|'min_version: TLSv1.3'|MAPPED",
                "valid_tls_version_max_in: TLSv1_2|'max_version: TLSv1.2'|MAPPED",
                "valid_tls_version_min_in: TLSv1_1|'oldest version'|NOT_MAPPED",
                "valid_tls_versions_in: [TLSv1_3]|'min_version: TLSv1.3'|MAPPED",
                "valid_tls_versions_in: [TLSv1_2, TLSv1_3]|'TLS 1.2 and 1.3 are offered'|NO_EFFECT",
                "valid_tls_versions_in: [TLSv1, TLSv1_2, TLSv1_3]|'oldest version'|NOT_MAPPED",
                "server_cipher_suite: ECDHE-RSA-AES256-GCM-SHA384|'ciphers: [TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384]'|MAPPED",
                "server_cipher_suite: HIGH|'list cipher suites'|NOT_MAPPED",
                "server_TLSv1_3_cipher_suites: TLS_AES_128_GCM_SHA256|'are fixed'|NOT_MAPPED",
                "server_group_list: X25519|'groups: [x25519]'|MAPPED",
                "verify_client: NONE|'does not ask clients for certificates'|NO_EFFECT",
                "verify_client: MODERATE|'client_certificates: request'|NOT_MAPPED_WITHOUT_FILE",
                "verify_client: STRICT|'client_certificates: require'|NOT_MAPPED_WITHOUT_FILE",
                "verify_client: OFTEN|'not a valid value'|NOT_MAPPED",
                "verify_client_ca_certs: ca.pem|'not asked for certificates'|NO_EFFECT",
                "host_sni_policy: PERMISSIVE|'refused with 421'|NO_EFFECT",
                "ssl_ticket_enabled: 0|'issued for all names'|NOT_MAPPED",
                "ssl_ticket_number: 3|'tickets'|NO_EFFECT",
                "http2_initial_window_size_in: 100|'section http2'|NO_EFFECT",
                "server_max_early_data: 0|'early data'|NO_EFFECT",
                "server_max_early_data: 16384|'early data'|NOT_MAPPED",
                "quic: off|'HTTP/3'|NO_EFFECT",
                "tunnel_route: b.example:443|'not forwarded by SNI'|NOT_MAPPED",
                "forward_route: b.example:443|'not forwarded by SNI'|NOT_MAPPED",
                "partial_blind_route: b.example:443|'not forwarded by SNI'|NOT_MAPPED",
                "tunnel_alpn: [h2]|'not forwarded by SNI'|NO_EFFECT",
                "client_sni_policy: host|'no rule for this host alone'|NOT_MAPPED",
                "made_up: 1|'not understood'|NOT_MAPPED",
            })
    void settingsOfNames(String setting, String said, String outcome) throws IOException {
        certificates(TWO);
        ports();
        boolean needsFile = outcome.endsWith("_WITHOUT_FILE");
        if (needsFile) {
            sni("  - fqdn: www.x.example", "    " + setting);
            assertOutcome(Outcome.NOT_MAPPED, "sni.yaml", 2, "a file of certificate authorities");
            assertLacks("client_certificates");
        }
        sni("  - fqdn: www.x.example", "    " + setting, needsFile ? "    verify_client_ca_certs: ca.pem" : "");
        ImportedLine line = samples.line("sni.yaml", 2);
        Outcome wanted = needsFile ? Outcome.MAPPED : Outcome.valueOf(outcome);
        assertEquals(wanted, line.outcome(), line::toString);
        if (wanted == Outcome.MAPPED) {
            assertHas(said);
            assertHas("names: [www.x.example]");
            assertHas("default_certificate: x.example");
        } else {
            assertTrue((line.keys() + line.note()).contains(said), line::toString);
        }
        checked();
    }

    /** Returns the elements of {@code tls.certificates}, as file, names and settings. */
    private List<String> elements() {
        TlsConfig tls = checked().tls();
        return tls.certificates().stream()
                .map(each -> each.certificate().getFileName() + " " + each.names() + " "
                        + each.settings().texts())
                .toList();
    }

    @Test
    void singleCertificateIsSharedWhereNamesHaveSettings() throws IOException {
        certificates(TWO[0]);
        ports();
        sni("  - fqdn: admin.x.example", "    http2: off");
        samples.file("remap.config", "map / http://o.example/");
        assertEquals(List.of("site.pem [admin.x.example] [http2: false]", "site.pem [] []"), elements(), samples::yaml);
        assertHas("enabled: true");
        assertOutcome(Outcome.MAPPED, "sni.yaml", 2, "tls.certificates[0]");
        assertOutcome(Outcome.MAPPED, "ssl_multicert.config", 1, "tls.certificates[1]");
    }

    @Test
    void wildcardHoldsForNamesOfCertificatesAndRulesBelowIt() throws IOException {
        certificates(TWO);
        ports();
        sni(
                "  - fqdn: open.y.example",
                "    ip_allow: 10.0.0.0/8",
                "  - fqdn: '*.y.example'",
                "    verify_client: STRICT",
                "    verify_client_ca_certs: {file: ca.pem}",
                "  - fqdn: late.y.example",
                "    http2: off");
        samples.file(
                "remap.config",
                "map https://www.y.example/ http://o.example/",
                "map https://b.c.y.example/ http://o.example/",
                "map / http://o.example/");
        String strict = "[client_certificates: require, client_ca_file: " + directory.resolve("ca.pem") + "]";
        assertEquals(
                List.of(
                        "wild.pem [open.y.example] []",
                        "wild.pem [*.y.example, deep.a.y.example] " + strict,
                        "site.pem [b.c.y.example] " + strict,
                        "site.pem [] []",
                        "wild.pem [] []"),
                elements(),
                samples::yaml);
        assertHas("- regex_map: 'https://[^.]+\\..*\\.y\\.example/'\n    to: http://closed.invalid/");
        assertEquals("", letIn(0, "GET"), "hosts of several labels by a rule for all");
        assertEquals(EVERYBODY, letIn(1, "GET"), "TLS asks for the certificate");
        assertEquals(EVERYBODY, letIn(2, "GET"), "TLS asks for the certificate");
        assertOutcome(Outcome.NO_EFFECT, "sni.yaml", 7, "an earlier line applies to this name");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "y.example|inbound_port_ranges: 8443|settings of a name apply to every address",
                "y.example|verify_client_ca_certs: {dir: certs}|a file of certificate authorities",
                "'*'||* alone means all names",
                "'a*.y.example'||a whole label",
            })
    void rulesOfNamesWhoseClientsCannotBeAskedAreClosed(String name, String more, String why) throws IOException {
        certificates(TWO);
        ports();
        sni(
                "  - fqdn: " + (name.contains("*") ? "'" + name + "'" : name),
                "    verify_client: STRICT",
                more == null ? "" : "    " + more,
                more != null && more.contains("dir") ? "" : "    verify_client_ca_certs: ca.pem");
        samples.file("remap.config", "map https://" + name.replace("*", "a") + "/ http://o.example/");
        assertOutcome(Outcome.NOT_MAPPED, "sni.yaml", 2, why);
        assertOutcome(Outcome.NOT_MAPPED, "sni.yaml", 2, "deny all requests");
        assertEquals("", letIn(0, "GET"), samples::yaml);
    }

    @Test
    void nameForOriginsIsThatOfTheRulesOfAHost() throws IOException {
        certificates(TWO);
        ports();
        sni("  - fqdn: www.x.example", "    client_sni_policy: host");
        samples.file(
                "remap.config",
                "map https://www.x.example/ https://o.example/",
                "map http://www.x.example/ https://o.example/");
        assertHas("sni: host");
        assertEquals(2, samples.yaml().split("sni: host", -1).length);
        assertOutcome(Outcome.MAPPED, "sni.yaml", 2, "origin.tls.sni");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "8443:ssl:proto=http|http2: false",
                "8080:proto=http2;http|h2c: true",
            })
    void protocolsOfPorts(String port, String setting) throws IOException {
        certificates(TWO);
        samples.file("records.config", "CONFIG proxy.config.http.server_ports STRING " + port);
        assertHas(setting);
        samples.file(
                "records.config",
                "CONFIG proxy.config.http.server_ports STRING 8443:ssl:proto=http2;http 8080:proto=http");
        assertLacks("http2:");
        assertLacks("h2c");
        checked();
    }
}
