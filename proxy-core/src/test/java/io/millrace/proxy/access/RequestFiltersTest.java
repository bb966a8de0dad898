package io.millrace.proxy.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.IpAddress;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests which filter decides about a request. */
final class RequestFiltersTest {
    private static AccessRules rules(String yaml) {
        ConfigResult result = ConfigLoader.parse("listen: [':1']\n" + yaml, "millrace.yaml", Map.of());
        assertNotNull(result.config(), () -> String.valueOf(result.problems()));
        return AccessRules.of(result.config());
    }

    private static IpAddress ip(String text) throws UnknownHostException {
        return text.equals("unknown")
                ? null
                : IpAddress.of(InetAddress.getByName(text).getAddress());
    }

    private static RequestHead request(String method, FieldSection fields) {
        return RequestHead.of(method, (TargetUri) TargetUri.parseAbsolute("http://a/"), fields);
    }

    private static String denial(AccessRules rules, int rule, String method, String client)
            throws UnknownHostException {
        return rules.denial(rule, request(method, FieldSection.EMPTY), ip(client), ip("192.0.2.1"));
    }

    private static final String RULES = """
            filters:
              - {name: office, action: allow, src_ip: [10.0.0.0/8, ~10.1.2.3]}
              - {name: read-only, action: deny, methods: [PUT, DELETE]}
              - {name: bad, action: deny, src_ip: 10.6.6.6}
            access: {filters: [bad, {action: deny, methods: [DELETE], src_ip: ~127.0.0.1}]}
            remap:
              - {map: http://none/, to: http://o}
              - {map: http://allow/, to: http://o, filters: office}
              - {map: http://deny/, to: http://o, filters: [read-only]}
              - {map: http://both/, to: http://o, filters: [read-only, office]}
              - {map: http://here/, to: http://o, filters: [{action: allow, in_ip: 192.0.2.1, methods: GET}]}
              - {map: http://there/, to: http://o, filters: [{action: deny, in_ip: 192.0.2.2}]}
              - {redirect: http://old/, to: http://new, filters: office}
            """;

    @ParameterizedTest(name = "rule {0}, {1} from {2}: {3}")
    @CsvSource(
            nullValues = "passes",
            value = {
                // The rule has no filters: the first match of those for all decides.
                "0, GET, 10.1.1.1, passes",
                "0, GET, 10.6.6.6, filter:bad",
                "0, DELETE, 10.6.6.6, filter:bad",
                "0, DELETE, 10.1.1.1, filter:access.filters[1]",
                "0, DELETE, 127.0.0.1, passes",
                // No rule at all.
                "-1, GET, 10.6.6.6, filter:bad",
                "-1, GET, 10.1.1.1, passes",
                // An allow is final, and a request without a match is denied.
                "1, GET, 10.1.1.1, passes",
                "1, DELETE, 10.1.1.1, passes",
                "1, GET, 10.6.6.6, passes",
                "1, GET, 10.1.2.3, no-filter:remap[1].filters",
                "1, GET, 192.0.2.7, no-filter:remap[1].filters",
                "1, GET, ::ffff:10.1.1.1, passes",
                "1, GET, ::1, no-filter:remap[1].filters",
                // With only deny filters, the filters for all decide about other requests.
                "2, PUT, 10.1.1.1, filter:read-only",
                "2, GET, 10.1.1.1, passes",
                "2, GET, 10.6.6.6, filter:bad",
                "3, PUT, 10.1.1.1, filter:read-only",
                "3, GET, 10.1.1.1, passes",
                "3, GET, 192.0.2.7, no-filter:remap[3].filters",
                // By the local address of the connection.
                "4, GET, 10.1.1.1, passes",
                "4, POST, 10.1.1.1, no-filter:remap[4].filters",
                "5, GET, 10.1.1.1, passes",
                "6, GET, 10.1.1.1, passes",
                "6, GET, 192.0.2.7, no-filter:remap[6].filters",
                // Methods are in capitals.
                "2, put, 10.1.1.1, passes",
                // An unknown address is in no allowed range, and in every denied range.
                "0, GET, unknown, filter:bad",
                "1, GET, unknown, no-filter:remap[1].filters",
                "4, GET, unknown, passes"
            })
    void firstMatchingFilterApplies(int rule, String method, String client, String denial) throws Exception {
        assertEquals(denial, denial(rules(RULES), rule, method, client));
    }

    @Test
    void allowForAllDeniesTheRestOfTheWorld() throws Exception {
        AccessRules rules = rules("""
                access: {filters: [{action: allow, src_ip: 10.0.0.0/8}]}
                remap:
                  - {map: /, to: http://o}
                """);
        assertEquals(null, denial(rules, 0, "GET", "10.1.1.1"));
        assertEquals("no-filter:access.filters", denial(rules, 0, "GET", "11.1.1.1"));
        assertEquals("no-filter:access.filters", denial(rules, AccessRules.NO_RULE, "GET", "11.1.1.1"));
    }

    @Test
    void withoutFiltersNothingIsAsked() {
        assertFalse(rules("remap: [{map: /, to: http://o}]").hasFilters());
        assertFalse(rules("filters: [{name: a, action: deny}]\nremap: [{map: /, to: http://o}]")
                .hasFilters());
        assertTrue(rules("remap: [{map: /, to: http://o, filters: [{action: deny}]}]")
                .hasFilters());
    }

    private static final String FORWARDED = """
            filters: [{name: office, action: allow, src_ip: 10.0.0.0/8}]
            access: {filters: office, trusted_proxies: [192.0.2.0/24], filter_by_x_forwarded_for: %s}
            remap: [{map: /, to: http://o}]
            """;

    @ParameterizedTest(name = "{0}, from {1} for {2}: {3}")
    @CsvSource(
            delimiter = '|',
            nullValues = "passes",
            value = {
                "true | 192.0.2.9 | 10.1.1.1 | passes",
                "true | 192.0.2.9 | 10.1.1.1, 192.0.2.8 | passes",
                "true | 192.0.2.9 | 11.1.1.1 | no-filter:access.filters",
                // The address before the last trusted proxy is that client's own claim.
                "true | 192.0.2.9 | 10.1.1.1, 11.1.1.1, 192.0.2.8 | no-filter:access.filters",
                "true | 192.0.2.9 | 11.1.1.1, 10.1.1.1 | passes",
                "true | 192.0.2.9 | 10.1.1.1:8080 | passes",
                "true | 192.0.2.9 | [::ffff:10.1.1.1]:8080 | passes",
                "true | 192.0.2.9 | ::ffff:10.1.1.1 | passes",
                "true | 192.0.2.9 | 10.1.1.1, unknown | no-filter:access.filters",
                "true | 192.0.2.9 | 10.1.1.1, 0.0.0.0 | no-filter:access.filters",
                "true | 192.0.2.9 | 192.0.2.8 | no-filter:access.filters",
                // Claims of senders other than trusted proxies are ignored.
                "true | 11.1.1.1 | 10.1.1.1 | no-filter:access.filters",
                "true | 10.1.1.1 | 11.1.1.1 | passes",
                "false | 192.0.2.9 | 10.1.1.1 | no-filter:access.filters",
                "false | 10.1.1.1 | 11.1.1.1 | passes"
            })
    void clientIsWhomTrustedProxiesName(boolean byForwarded, String peer, String forwardedFor, String denial)
            throws Exception {
        FieldSection fields = FieldSection.builder()
                .add(FieldName.X_FORWARDED_FOR, forwardedFor)
                .build();
        AccessRules rules = rules(FORWARDED.formatted(byForwarded));
        assertEquals(denial, rules.denial(0, request("GET", fields), ip(peer), null));
    }

    /** The address 0.0.0.0 stands for peers of Unix sockets, and no field may claim it. */
    @Test
    void peersOfUnixSocketsAreNamedByTheirOwnWordOnly() throws Exception {
        AccessRules rules = rules(FORWARDED.formatted(true).replace("src_ip: 10.0.0.0/8", "src_ip: ['unix:']"));
        assertEquals(null, denial(rules, 0, "GET", "0.0.0.0"));
        FieldSection claim = FieldSection.builder()
                .add(FieldName.X_FORWARDED_FOR, "::ffff:0.0.0.0")
                .build();
        assertEquals("no-filter:access.filters", rules.denial(0, request("GET", claim), ip("192.0.2.9"), null));
    }

    @Test
    void trustedProxyWithoutAForwardedAddressIsTheClient() throws Exception {
        AccessRules rules = rules(FORWARDED.formatted(true).replace("src_ip: 10.0.0.0/8", "src_ip: 192.0.2.9"));
        assertEquals(null, denial(rules, 0, "GET", "192.0.2.9"));
    }
}
