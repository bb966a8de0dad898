package io.millrace.proxy.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.net.ClientConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class AccessRulesTest {
    private static AccessRules rules(String trusted, String fields) {
        return AccessRules.of(ProxyConfig.builder()
                .set("access.trusted_proxies", trusted)
                .set("access.forwarded_fields", fields)
                .build());
    }

    @ParameterizedTest
    @CsvSource({
        "10.0.0.0/8, 10.255.0.1, true",
        "10.0.0.0/8, 11.0.0.1, false",
        "192.0.2.128/25, 192.0.2.128, true",
        "192.0.2.128/25, 192.0.2.127, false",
        "192.0.2.7, 192.0.2.7, true",
        "192.0.2.7, 192.0.2.6, false",
        "0.0.0.0/0, 1.2.3.4, true",
        "0.0.0.0/0, ::1, false",
        "2001:db8::/33, 2001:db8:7fff::1, true",
        "2001:db8::/33, 2001:db8:8000::1, false",
        "::1, ::1, true",
        "'10.0.0.0/8,::1', ::1, true",
        "192.0.2.7, ::ffff:192.0.2.7, true"
    })
    void trustsTheAddressesOfTheListOnly(String ranges, String address, boolean trusted) throws UnknownHostException {
        assertEquals(trusted, rules(ranges, "none").isTrusted(InetAddress.getByName(address)));
        assertFalse(rules(ranges, "none").isTrusted(null));
    }

    @ParameterizedTest
    @CsvSource({
        "10.0.0.0/33, 'has a prefix that is not 0 to 32 bits long'",
        "10.0.0.1/8, 'has bits set beyond its prefix of 8'",
        "10.0.0/8, 'is neither an address nor a range such as 10.0.0.0/8'",
        "proxy.example, 'is neither an address nor a range such as 10.0.0.0/8'",
        "10.0.0.0/, 'has a prefix that is not 0 to 32 bits long'",
        "::/129, 'has a prefix that is not 0 to 128 bits long'"
    })
    void badRangeIsAProblemWithItsPlace(String range, String problem) {
        assertEquals(
                "millrace.yaml:5:3: access.trusted_proxies: '" + range + "' " + problem,
                problem("access:\n  trusted_proxies: [\"" + range + "\"]"));
    }

    private static String problem(String yaml) {
        return ConfigLoader.parse(
                        "listen: [\":8080\"]\nremap:\n- {map: /, to: http://o}\n" + yaml, "millrace.yaml", Map.of())
                .text()
                .strip();
    }

    @Test
    void badMethodOrFieldIsAProblemWithASuggestion() {
        assertEquals(
                "millrace.yaml:4:1: methods: 'get' must be in capital letters (did you mean GET?)",
                problem("methods: [get]"));
        assertEquals("millrace.yaml:4:1: methods: 'G T' is not a method", problem("methods: [G T]"));
        assertEquals(
                "millrace.yaml:4:1: methods: CONNECT is not controlled by rules; see forward_proxy",
                problem("methods: [CONNECT]"));
        assertEquals(
                "millrace.yaml:5:3: access.forwarded_fields: 'x-forwarded-hos' is none of x-forwarded-for, "
                        + "x-forwarded-proto, x-forwarded-host, forwarded, client-ip (did you mean x-forwarded-host?)",
                problem("access:\n  forwarded_fields: x-forwarded-hos"));
    }

    private static String told(AccessRules rules, String address, boolean trusted, String url, String... fields)
            throws UnknownHostException {
        FieldSection.Builder from = FieldSection.builder();
        for (int i = 0; i < fields.length; i += 2) {
            from.add(fields[i], fields[i + 1]);
        }
        FieldSection.Builder to = FieldSection.builder();
        TargetUri target = (TargetUri) TargetUri.parseAbsolute(url);
        InetSocketAddress peer = new InetSocketAddress(InetAddress.getByName(address), 0);
        ClientConnection client = new ClientConnection(peer, peer, false);
        rules.addForwardingFields(from.build(), trusted, false, client, target, to);
        return to.build().toString();
    }

    @Test
    void rfc7239_s6QuotesAddressesWithColonsAndHostsWithPorts() throws UnknownHostException {
        AccessRules rules = rules("10.0.0.1", "forwarded, x-forwarded-for");
        assertEquals(
                "Forwarded: for=\"[2001:db8:0:0:0:0:0:1]\";proto=https;host=\"a:8443\"\n"
                        + "X-Forwarded-For: 2001:db8:0:0:0:0:0:1\n",
                told(rules, "2001:db8::1", false, "https://a:8443/"));
    }

    @Test
    void trustedListsAreContinuedAndTrustedValuesKept() throws UnknownHostException {
        AccessRules rules = rules("10.0.0.1", "x-forwarded-for, x-forwarded-proto, x-forwarded-host, forwarded");
        String[] fields = {
            "X-Forwarded-For",
            "192.0.2.1",
            "X-Forwarded-For",
            "192.0.2.2",
            "X-Forwarded-Proto",
            "https",
            "Forwarded",
            "for=x"
        };
        assertEquals(
                "X-Forwarded-For: 192.0.2.1, 192.0.2.2, 10.0.0.1\nX-Forwarded-Proto: https\nX-Forwarded-Host: a\n"
                        + "Forwarded: for=x, for=10.0.0.1;proto=http;host=\"a\"\n",
                told(rules, "10.0.0.1", true, "http://a/", fields));
        assertEquals(
                "X-Forwarded-For: 10.0.0.2\nX-Forwarded-Proto: http\nX-Forwarded-Host: a\n"
                        + "Forwarded: for=10.0.0.2;proto=http;host=\"a\"\n",
                told(rules, "10.0.0.2", false, "http://a/", fields));
    }

    @Test
    void ordinaryFieldsAreNeverWithheld() {
        AccessRules rules = rules("10.0.0.1", "none");
        FieldSection.Builder fields = FieldSection.builder();
        List<String> names = List.of(
                "Accept",
                "X-Request-Id",
                "X-Requested-With",
                "X-Forward",
                "X-Custom",
                "X-Original",
                "X-Http",
                "Proxying",
                "Client",
                "Base",
                "Request-Id",
                "X-Hostname",
                "True",
                "Front-End");
        names.forEach(name -> fields.add(name, "x"));
        FieldSection section = fields.build();
        for (int line = 0; line < section.size(); line++) {
            assertFalse(rules.isWithheld(section, line, false), section.name(line));
            assertFalse(rules.isWithheld(section, line, true), section.name(line));
        }
        FieldSection forged =
                FieldSection.builder().add("X-Forwarded-Host", "x").build();
        assertTrue(rules.isWithheld(forged, 0, false));
        assertFalse(rules.isWithheld(forged, 0, true));
    }
}
