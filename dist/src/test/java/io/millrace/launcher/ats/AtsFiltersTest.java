package io.millrace.launcher.ats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.importing.source.Outcome;
import io.millrace.proxy.access.AccessRules;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that imported filters admit the same clients as Traffic Server, for many addresses and methods. */
final class AtsFiltersTest extends AtsClientsFixture {
    private static final List<String> METHODS = List.of("GET", "HEAD", "POST", "DELETE", "PURGE", "MKCOL");

    @Test
    void whereSeveralFiltersAllowARequestHasToPassAllOfThem() {
        samples.file(
                "remap.config",
                ".definefilter office @action=allow @src_ip=10.0.0.1-10.0.0.2",
                ".activatefilter office",
                "map http://a.example/ http://o.example/ @action=allow @src_ip=10.0.0.2-10.0.0.3 @method=GET",
                "map http://b.example/ http://o.example/ @action=allow @src_ip=10.0.0.9");
        assertEquals("10.0.0.2", letIn(0, "GET"));
        assertEquals("", letIn(0, "POST"));
        assertEquals("", letIn(1, "GET"));
    }

    @Test
    void version10DeniesByNamedFilterBeforeTheRulesOwnAllow() {
        samples.file("records.yaml", "records: {}");
        samples.file(
                "remap.config",
                ".definefilter ro @action=deny @method=POST",
                ".activatefilter ro",
                "map http://a.example/ http://o.example/ @action=allow @src_ip=10.0.0.1");
        assertEquals("10.0.0.1", letIn(0, "GET"));
        assertEquals("", letIn(0, "POST"));
    }

    @Test
    void severalNegatedAddressesAddUp() {
        samples.file(
                "remap.config",
                "map http://a.example/ http://o.example/ @action=deny @src_ip=~10.0.0.1 @src_ip=~10.0.0.2",
                "map http://b.example/ http://o.example/ @action=deny @src_ip=10.0.0.1-10.0.0.3 @src_ip=~10.0.0.2",
                "map http://c.example/ http://o.example/ @action=deny @src_ip=~10.0.0.1-10.0.0.4 @src_ip=10.0.0.2",
                "map http://d.example/ http://o.example/ @action=allow @src_ip=~10.0.0.1 @src_ip=10.0.0.1-10.0.0.1",
                "map http://e.example/ http://o.example/ @action=allow @src_ip=10.0.0.1 @src_ip=~10.0.0.1");
        assertEquals("", letIn(0, "GET"));
        assertEquals("", letIn(1, "GET"));
        assertEquals("10.0.0.1 10.0.0.3 10.0.0.4", letIn(2, "GET"));
        // A repeated range has no effect.
        assertEquals("10.0.0.2 10.0.0.3 10.0.0.4 10.0.0.9 127.0.0.1 2001:db8::1 ::1", letIn(3, "GET"));
        assertEquals("10.0.0.1", letIn(4, "GET"));
        assertTrue(samples.line("remap.config", 1).note().contains("matches all addresses"));
    }

    @Test
    void bitsBehindAPrefixArePassedOver() {
        samples.file("remap.config", "map http://a.example/ http://o.example/ @action=deny @src_ip=~10.0.0.2/30");
        assertEquals("10.0.0.1 10.0.0.2 10.0.0.3", letIn(0, "GET"));
    }

    @Test
    void ipAllowAppliesToIncludedFilesIndependentlyOfTheIncludingFile() {
        samples.file("ip_allow.config", "src_ip=10.0.0.1 action=ip_allow");
        samples.file(
                "remap.config",
                ".deletefilter ip_allow",
                "map http://a.example/ http://o.example/",
                ".deactivatefilter ip_allow",
                "map http://b.example/ http://o.example/",
                ".include in.config",
                "map http://e.example/ http://o.example/",
                ".activatefilter ip_allow",
                ".include out.config",
                "map http://g.example/ http://o.example/");
        samples.file("in.config", "map http://c.example/ http://o.example/");
        samples.file("out.config", ".deactivatefilter ip_allow", "map http://f.example/ http://o.example/");
        assertEquals("10.0.0.1", letIn(0, "GET"));
        assertEquals(EVERYBODY, letIn(1, "GET"));
        assertEquals("10.0.0.1", letIn(2, "GET"), "included");
        assertEquals(EVERYBODY, letIn(3, "GET"));
        assertEquals(EVERYBODY, letIn(4, "GET"));
        assertEquals("10.0.0.1", letIn(5, "GET"), "after it");
    }

    @Test
    void ruleBeforeAFilterChangeKeepsItsFilter() {
        samples.file(
                "remap.config",
                ".definefilter Ro @action=deny @method=POST",
                ".activatefilter rO",
                "map http://a.example/ http://o.example/",
                ".definefilter ro @method=DELETE",
                "map http://b.example/ http://o.example/",
                ".delflt *",
                "map http://c.example/ http://o.example/",
                ".delflt RO",
                "map http://d.example/ http://o.example/");
        assertEquals(EVERYBODY, letIn(0, "DELETE"));
        assertEquals("", letIn(0, "POST"));
        assertEquals("", letIn(1, "DELETE"));
        assertEquals("", letIn(1, "POST"));
        assertEquals("", letIn(2, "DELETE"));
        assertEquals(EVERYBODY, letIn(3, "POST"));
    }

    @Test
    void commentsAndQuotesAreReadAsTrafficServerDoes() {
        samples.file(
                "remap.config",
                "map http://a.example/ http://o.example/ @action=allow # @src_ip=10.0.0.1",
                "map http://b.example/ http://o.example/ \"@action=deny\" @src_ip=10.0.0.2",
                "# a comment \\",
                ".deactivatefilter ip_allow",
                "@action=off map http://c.example/ @src_ip=10.0.0.3 http://o.example/");
        assertEquals("10.0.0.1", letIn(0, "GET"));
        assertEquals("10.0.0.2", letIn(1, "GET"));
        assertEquals(EVERYBODY.replace("10.0.0.3 ", ""), letIn(2, "GET"));
    }

    @Test
    void addressAndCategoryHaveToFitBoth() {
        samples.file("records.yaml", "records: {}");
        samples.file(
                "ip_allow.yaml",
                "ip_categories:",
                "  - {name: OFFICE, ip_addrs: [10.0.0.1-10.0.0.2]}",
                "ip_allow:",
                "  - {apply: in, ip_addrs: [0/0, '::/0'], action: allow, methods: ALL}");
        samples.file(
                "remap.config",
                "map http://a.example/ http://o.example/ @action=allow @src_ip_category=OFFICE @src_ip=10.0.0.2-10.0.0.4",
                "map http://b.example/ http://o.example/ @action=deny @src_ip_category=~OFFICE");
        assertEquals("10.0.0.2", letIn(0, "GET"));
        assertEquals("10.0.0.1 10.0.0.2", letIn(1, "GET"));
    }

    @Test
    void ruleWithAnInvalidOriginStillDeniesByItsFilter() {
        samples.file(
                "remap.config",
                "map http://a.example/secret/ https://[::g]/ @action=allow @src_ip=10.0.0.1",
                "map http://a.example/ http://o.example/");
        assertEquals("", letIn(0, "GET"));
        assertHas("- map: http://a.example/secret/");
        assertEquals(Outcome.NOT_MAPPED, samples.line("remap.config", 1).outcome());
    }

    @Test
    void signedUrlsAreImportedWithTheirKeys() {
        samples.file("keys.config", "key0 = secret", "error_url = 403");
        samples.file("anchor.config", "key0 = secret", "sig_anchor = urlsig");
        samples.file(
                "remap.config",
                "map http://a.example/ http://o.example/ @plugin=url_sig.so @pparam=keys.config",
                "map http://b.example/ http://o.example/ @plugin=url_sig.so @pparam=keys.config @pparam=pristineurl",
                "map http://c.example/ http://o.example/ @plugin=url_sig.so @pparam=anchor.config");
        assertEquals(EVERYBODY, letIn(0, "GET"));
        assertEquals(EVERYBODY, letIn(1, "GET"));
        assertEquals("", letIn(2, "GET"));
        assertHas("url: origin");
        assertHas("url: client");
        assertHas("keys.config");
        assertTrue(samples.line("remap.config", 3).note().contains("anchor.config:2: sig_anchor:"));
    }

    @Test
    void ruleThatAPluginKeepsClientsOutOfIsClosed() {
        samples.file(
                "remap.config",
                "map http://a.example/ http://o.example/ @plugin=url_sig.so @pparam=keys.config",
                "map http://b.example/ http://o.example/ @plugin=header_rewrite.so @pparam=x.conf",
                "map http://c.example/ http://o.example/ @action=allow @src_ip=10.0.0.1 @plugin=/usr/lib/maxmind_acl.so");
        assertEquals("", letIn(0, "GET"));
        assertEquals(EVERYBODY, letIn(1, "GET"));
        assertEquals("", letIn(2, "GET"));
        assertEquals(Outcome.NOT_MAPPED, samples.line("remap.config", 1).outcome());
        assertTrue(samples.line("remap.config", 1).note().contains("the rule denies all requests until you set"));
        assertTrue(samples.line("remap.config", 2).note().contains("if the plugin refuses requests, write filters"));
        samples.file("plugin.config", "authproxy.so --auth-transform=head");
        assertEquals("", letIn(1, "GET"));
    }

    @Test
    void noClientIsForwardedIfAGlobalPluginDeniesClients() {
        samples.file("records.config", "CONFIG proxy.config.url_remap.remap_required INT 0");
        samples.file("ip_allow.config", "src_ip=10.0.0.0/8 action=ip_allow");
        assertHas("forward_proxy:\n  enabled: true\n");
        samples.file("plugin.config", "basic_auth.so");
        assertHas("forward_proxy:\n  enabled: false\n");
        assertEquals(Outcome.NOT_MAPPED, samples.line("plugin.config", 1).outcome());
    }

    @Test
    void methodThatFiltersOfOldNeverMeetIsLetInByNone() {
        samples.file(
                "remap.config",
                "map http://a.example/ http://o.example/ @action=allow @method=GET @method=PATCH",
                "map http://b.example/ http://o.example/ @action=allow @method=patch",
                "map http://c.example/ http://o.example/ @action=deny @method=PATCH");
        assertEquals(EVERYBODY, letIn(0, "GET"));
        assertEquals("", letIn(0, "PATCH"));
        assertEquals("", letIn(1, "PATCH"));
        assertEquals("", letIn(2, "PATCH"), "what was meant to be denied is");
        assertTrue(samples.line("remap.config", 1)
                .note()
                .contains("never match the method PATCH, so the method is omitted"));
        samples.file("records.yaml", "records: {}");
        assertEquals(EVERYBODY, letIn(0, "PATCH"), "version 10 meets it");
        assertEquals("", samples.line("remap.config", 1).note());
    }

    @Test
    void pushIsDeniedToEverybodyUnlessItIsOn() {
        samples.file(
                "remap.config",
                ".definefilter office @action=allow @src_ip=10.0.0.0/8",
                "map http://a.example/ http://o.example/",
                "map http://b.example/ http://o.example/ @action=allow @src_ip=10.0.0.1",
                "map http://c.example/ http://o.example/ @action=deny @src_ip=10.0.0.1",
                ".activatefilter office",
                "map http://d.example/ http://o.example/",
                ".deactivatefilter office",
                ".deactivatefilter ip_allow",
                "map http://e.example/ http://o.example/ @action=allow");
        samples.file(
                "ip_allow.config",
                "src_ip=10.0.0.0-10.255.255.255 action=ip_allow",
                "src_ip=127.0.0.1 action=ip_allow");
        for (int rule = 0; rule < 5; rule++) {
            assertEquals("", letIn(rule, "PUSH"));
        }
        assertEquals("10.0.0.1", letIn(1, "GET"));
        assertEquals("10.0.0.1 10.0.0.2 10.0.0.3 10.0.0.4 10.0.0.9", letIn(3, "POST"));
        samples.file("records.config", "CONFIG proxy.config.http.push_method_enabled INT 0");
        assertEquals("", letIn(1, "PUSH"));
        assertEquals(
                List.of("access.filters[0]"), samples.line("records.config", 1).keys());
        samples.file("records.config", "CONFIG proxy.config.http.push_method_enabled INT 1");
        assertEquals("10.0.0.1", letIn(1, "PUSH"));
        assertEquals(Outcome.NOT_MAPPED, samples.line("records.config", 1).outcome());
    }

    @Test
    void nameOfAFilterThatIsTakenIsNotWrittenTwice() {
        samples.file(
                "remap.config",
                ".definefilter no-push @action=allow @src_ip=10.0.0.1",
                ".activatefilter no-push",
                "map http://a.example/ http://o.example/");
        assertEquals("10.0.0.1", letIn(0, "GET"));
        assertEquals("", letIn(0, "PUSH"));
    }

    @Test
    void ruleByExpressionThatHasFiltersHoldsWhereverItIsFound() {
        samples.file(
                "remap.config",
                "regex_map http://admin\\.x http://o.example/ @action=allow @src_ip=10.0.0.1",
                "regex_map http://^a|b$:8080/p http://o.example/ @action=deny",
                "regex_map http://^c$/ http://o.example/ @action=deny",
                "regex_map http://(.*)\\.y\\.example/ http://$1.example/",
                "map / http://o.example/");
        assertHas("regex_map: 'http://.*?(?:admin\\.x).*/'");
        assertHas("regex_map: 'http://.*?(?:^a|b$).*:8080/p'");
        assertHas("regex_map: http://c/");
        assertHas("regex_map: 'http://(.*)\\.y\\.example/'");
    }

    @Test
    void emptyListAdmitsNobodyAndAMissingListIsReported() {
        samples.file(
                "remap.config",
                "map http://a.example/ http://o.example/",
                "map http://b.example/ http://o.example/ @action=allow @src_ip=10.0.0.1");
        assertEquals(EVERYBODY, letIn(0, "GET"));
        assertTrue(
                samples.result().warnings().get(0).startsWith("ip_allow.yaml is missing"),
                () -> samples.result().warnings().toString());
        samples.file(
                "ip_allow.yaml", "ip_allow:", "  - {apply: out, ip_addrs: 10.0.0.0/8, action: deny, methods: ALL}");
        assertEquals("", letIn(0, "GET"));
        assertEquals("", letIn(1, "GET"));
        assertFalse(samples.result().warnings().toString().contains("is missing"));
    }

    @Test
    void nothingIsForwardedWhenIpAllowDeniesAllConnections() {
        samples.file("records.yaml", "records: {url_remap: {remap_required: 0}}");
        samples.file(
                "ip_allow.yaml",
                "ip_allow:",
                "  - {apply: in, ip_addrs: 10.0.0.0/8, action: allow, methods: ALL}",
                "  - {apply: out, ip_addrs: 192.88.99.1, action: allow, methods: ALL}",
                "  - {apply: out, ip_addrs: [192.88.99.0/30, 10.0.0.0/8], action: deny, methods: CONNECT}");
        checked();
        assertHas("deny_destinations:");
        assertHas("192.88.99.0");
        assertHas("192.88.99.2/31");
        assertTrue(samples.yaml().contains("169.254.0.0/16"), "what is denied without a word");
        assertEquals(Outcome.MAPPED, samples.line("ip_allow.yaml", 4).outcome());
    }

    @Test
    void pageOfItsOwnIsClosedInsteadOfLeftToAWiderRule() {
        samples.file(
                "remap.config",
                "map http://a.example/cache/ http://{cache} @action=allow @src_ip=127.0.0.1",
                "map http://a.example/ http://o.example/");
        assertEquals("", letIn(0, "GET"));
        assertHas("- map: http://a.example/cache/");
        assertEquals(Outcome.NOT_MAPPED, samples.line("remap.config", 1).outcome());
    }

    @Test
    void proxyHeadersOfUntrustedSendersAreNotAccepted() {
        samples.file("records.config", "CONFIG proxy.config.http.server_ports STRING 8080:pp");
        assertLacks("proxy_protocol");
        assertTrue(samples.line("records.config", 1).note().contains("PROXY headers from any address"));
        samples.file(
                "records.config",
                "CONFIG proxy.config.http.server_ports STRING 8080:pp",
                "CONFIG proxy.config.http.proxy_protocol_allowlist STRING 10.0.0.9");
        assertHas("proxy_protocol: accept");
        assertHas("proxy_protocol_allow: [10.0.0.9]");
    }

    @Test
    void filesByOtherNamesAreReadAndHaveToBeThere() {
        samples.file(
                "records.config",
                "CONFIG proxy.config.cache.ip_allow.filename STRING who.yaml",
                "CONFIG proxy.config.url_remap.filename STRING where.config");
        samples.file("ip_allow.yaml", "ip_allow: []");
        samples.file("who.yaml", "ip_allow:", "  - {apply: in, ip_addrs: 10.0.0.1, action: allow, methods: ALL}");
        samples.file("where.config", "map http://a.example/ http://o.example/");
        assertEquals("10.0.0.1", letIn(0, "GET"));
        samples.file("records.config", "CONFIG proxy.config.cache.ip_allow.filename STRING gone.yaml");
        assertTrue(
                samples.result().problems().get(0).endsWith("records.config:1:1: gone.yaml: no such file"),
                () -> samples.result().problems().toString());
    }

    @Test
    void filtersOfYamlAndOfLinesAgree() {
        samples.file("records.yaml", "records: {}");
        samples.file(
                "remap.yaml",
                "acl_filters:",
                "  ro: {action: deny, method: [post, put]}",
                "remap:",
                "  - activate_filter: RO",
                "  - type: map",
                "    from: {url: http://a.example/}",
                "    to: {url: http://o.example/}",
                "    acl_filter: {action: allow, src_ip: [10.0.0.1-10.0.0.2], src_ip_invert: 10.0.0.1-10.0.0.9}",
                "  - include: in.yaml",
                "  - define_filter: {ro: {action: deny, src_ip: 10.0.0.1}}",
                "  - type: map",
                "    from: {scheme: http, host: c.example, port: 81, path: x}",
                "    to: {scheme: http, host: o.example}");
        samples.file(
                "in.yaml",
                "remap:",
                "  - deactivate_filter: ip_allow",
                "  - {type: map, from: {url: http://b.example/}, to: {url: http://o.example/}}");
        samples.file(
                "ip_allow.yaml",
                "ip_allow:",
                "  - {apply: in, ip_addrs: 10.0.0.0/8, action: allow, methods: ALL}",
                "  - {apply: in, ip_addrs: 127.0.0.1, action: allow, methods: GET}");
        assertEquals("10.0.0.1 10.0.0.2 127.0.0.1", letIn(0, "GET"));
        assertEquals("", letIn(0, "POST"));
        assertEquals(EVERYBODY, letIn(1, "GET"));
        assertEquals("", letIn(1, "PUT"));
        assertEquals("10.0.0.2 10.0.0.3 10.0.0.4 10.0.0.9 127.0.0.1", letIn(2, "GET"));
        assertEquals("10.0.0.2 10.0.0.3 10.0.0.4 10.0.0.9", letIn(2, "POST"));
        assertHas("- map: http://c.example:81/x\n");
    }

    static LongStream seeds() {
        return LongStream.rangeClosed(1, Integer.getInteger("millrace.import.seeds", 12));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void admitsTheSameRequestsAsTrafficServer(long seed) {
        compare(new AtsFilterModel(new Random(seed), false), seed);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void theSameWhenTheFirstFilterForAClientApplies(long seed) {
        compare(new AtsFilterModel(new Random(seed), true), seed);
    }

    private void compare(AtsFilterModel model, long seed) {
        model.files().forEach((name, lines) -> samples.file(name, lines.toArray(String[]::new)));
        AccessRules rules = rules();
        List<String> differ = new ArrayList<>();
        for (int rule = 0; rule < model.rules(); rule++) {
            for (String address : ADDRESSES) {
                for (String method : METHODS) {
                    boolean there = model.passes(rule, address, method);
                    if (there != passes(rules, rule, address, method)) {
                        differ.add(rule + " " + method + " of " + address + ": there " + there);
                    }
                }
            }
        }
        assertEquals(List.of(), differ, () -> "seed " + seed + "\n" + model.files() + "\n" + samples.yaml());
    }
}
