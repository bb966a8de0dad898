package io.millrace.launcher.ats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.importing.source.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import org.junit.jupiter.api.Test;

/**
 * Tests that a client whose connection is admitted for a name by sni.yaml may request the rules of that name, and no
 * other client.
 */
final class AtsNamesTest extends AtsClientsFixture {
    /** Writes an address with TLS, and the file sni.yaml. */
    private void tls(String... sni) throws IOException {
        Files.writeString(directory.resolve("site.pem"), "");
        samples.file("ssl_multicert.config", "ssl_cert_name=site.pem");
        samples.file("records.config", "CONFIG proxy.config.http.server_ports STRING 8443:ssl");
        samples.file("sni.yaml", sni);
    }

    @Test
    void clientsAdmittedForANameMayRequestItsRules() throws IOException {
        tls(
                "sni:",
                "  - fqdn: open.x.example",
                "    http2: off",
                "  - fqdn: '*.x.example'",
                "    ip_allow: 10.0.0.1-10.0.0.2,10.0.0.9",
                "  - fqdn: y.example",
                "    verify_client: STRICT");
        samples.file(
                "remap.config",
                "map http://www.x.example/ http://o.example/",
                "map https://www.x.example/ http://o.example/",
                "map https://open.x.example/ http://o.example/",
                "map https://x.example/ http://o.example/",
                "map https://y.example/ http://o.example/",
                "regex_map https://(.*)\\.z\\.example/ http://o.example/",
                "map https://www.x.example/a/ http://o.example/ @action=allow @src_ip=10.0.0.2-10.0.0.4");
        assertEquals(EVERYBODY, letIn(0, "GET"), "without TLS");
        assertEquals("10.0.0.1 10.0.0.2 10.0.0.9", letIn(1, "GET"));
        assertEquals(EVERYBODY, letIn(2, "GET"), "the first line for a name holds");
        assertEquals(EVERYBODY, letIn(3, "GET"));
        assertEquals("", letIn(4, "GET"), "nobody shows a certificate");
        assertEquals("10.0.0.1 10.0.0.2 10.0.0.9", letIn(5, "GET"), "the expression may be for such a name");
        assertEquals("10.0.0.2", letIn(6, "GET"));
    }

    @Test
    void ruleForEveryHostHasOneForEachNameThatNotEverybodyMayConnectBy() throws IOException {
        tls(
                "sni:",
                "  - fqdn: open.x.example",
                "    http2: off",
                "  - fqdn: '*.x.example'",
                "    ip_allow: '@ips.txt'",
                "  - fqdn: y.example",
                "    ip_allow: 10.0.0.3",
                "  - fqdn: z.example",
                "    http2: off");
        samples.file("ips.txt", "# office", "10.0.0.1,10.0.0.2", "", "10.0.0.9");
        samples.file("remap.config", "map / http://o.example/", "map https://www.x.example/a/ http://p.example/");
        assertEquals(EVERYBODY, letIn(0, "GET"));
        assertEquals("10.0.0.1 10.0.0.2 10.0.0.9", letIn(1, "GET"));
        assertHas("- map: https://open.x.example/\n    to: http://o.example/\n  - regex_map");
        assertHas("- regex_map: 'https://.*\\.x\\.example/'\n    to: http://o.example/\n    filters");
        assertHas("- map: https://y.example/\n    to: http://o.example/\n    filters");
        assertLacks("z.example");
        assertEquals(EVERYBODY, letIn(2, "GET"));
        assertEquals("10.0.0.1 10.0.0.2 10.0.0.9", letIn(3, "GET"));
        assertEquals("10.0.0.3", letIn(4, "GET"));
    }

    @Test
    void aLineForSomePortsLeavesTheOtherPortsToTheNextLine() throws IOException {
        tls(
                "sni:",
                "  - fqdn: a.example",
                "    inbound_port_ranges: 8443",
                "    ip_allow: 10.0.0.1-10.0.0.3",
                "  - fqdn: '*.example'",
                "    inbound_port_ranges: 8444",
                "  - fqdn: a.example",
                "    ip_allow: 10.0.0.2-10.0.0.9",
                "  - fqdn: b.example",
                "    verify_client: STRICT");
        samples.file("records.yaml", "records: {http: {server_ports: '8443:ssl 8444:ssl'}}");
        samples.file("remap.config", "map https://a.example/ http://o.example/", "map / http://o.example/");
        assertEquals("10.0.0.2 10.0.0.3", letIn(0, "GET"));
        assertEquals("10.0.0.2 10.0.0.3", letIn(2, "GET"), samples.yaml());
        assertEquals("", letIn(3, "GET"), "any name below example, for whatever is said behind");
    }

    @Test
    void beforeVersion10AStarInANameMayStandAnywhere() throws IOException {
        tls(
                "sni:",
                "  - fqdn: 'secret*.x.example'",
                "    ip_allow: 10.0.0.1",
                "  - fqdn: '*'",
                "    ip_allow: 10.0.0.2");
        samples.file(
                "remap.config",
                "map https://secret7.x.example/ http://o.example/",
                "map https://other.example/ http://o.example/",
                "map / http://o.example/");
        assertEquals("10.0.0.1", letIn(0, "GET"));
        assertEquals("10.0.0.2", letIn(1, "GET"));
        assertHas("regex_map: 'https://secret.*\\.x\\.example/'");
        // Later versions accept it only at the beginning, and find no host with these names.
        samples.file("records.yaml", "records: {http: {server_ports: '8443:ssl'}}");
        assertEquals(EVERYBODY, letIn(0, "GET"));
    }

    @Test
    void ruleForEveryHostThatAsksForAPageIsGuardedAsAWholeWhereANameHasAStar() throws IOException {
        tls("sni:", "  - fqdn: '*.x.example'", "    ip_allow: 10.0.0.1");
        samples.file(
                "records.config",
                "CONFIG proxy.config.http.server_ports STRING 8443:ssl",
                "CONFIG proxy.config.http.referer_filter INT 1");
        samples.file("remap.config", "map_with_referer / http://o.example/ http://r.example/ ~r.example");
        assertEquals("10.0.0.1", letIn(0, "GET"));
        assertTrue(samples.line("sni.yaml", 2).note().contains("apply to all hosts of remap.config:1"));
    }

    @Test
    void addressForClientsWithCertificatesAloneIsNotOpened() throws IOException {
        tls("sni:", "  - fqdn: x.example", "    http2: off");
        samples.file(
                "records.config",
                "CONFIG proxy.config.http.server_ports STRING 8080 8443:ssl",
                "CONFIG proxy.config.ssl.client.certification_level INT 2");
        assertLacks("8443");
        assertEquals(Outcome.NOT_MAPPED, samples.line("records.config", 1).outcome());
    }

    @Test
    void settingsOfOriginsAreWrittenToTheirRules() throws IOException {
        samples.file(
                "sni.yaml",
                "sni:",
                "  - fqdn: o.example",
                "    verify_server_policy: DISABLED",
                "  - fqdn: '*.own.example'",
                "    verify_server_policy: ENFORCED",
                "    verify_server_properties: NAME",
                "    client_cert: own.pem",
                "    client_key: own.key",
                "  - fqdn: unused.example",
                "    verify_server_policy: ENFORCED");
        samples.file(
                "remap.config",
                "map http://a.example/ https://o.example/",
                "map http://b.example/ https://www.own.example/",
                "map http://c.example/ http://o.example/");
        var rules = checked().remap();
        assertEquals("OFF", rules.get(0).originTls().context().verify().name());
        assertEquals("NAME", rules.get(1).originTls().context().verify().name());
        assertTrue(
                String.valueOf(rules.get(1).originTls().context().certificate()).endsWith("own.pem"));
        assertTrue(String.valueOf(rules.get(1).originTls().context().key()).endsWith("own.key"));
        assertEquals("ON", rules.get(2).originTls().context().verify().name());
        assertTrue(samples.line("sni.yaml", 9).note().contains("no rule has an https origin with this name"));
    }
}
