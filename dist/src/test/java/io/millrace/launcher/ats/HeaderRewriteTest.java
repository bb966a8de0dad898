package io.millrace.launcher.ats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.millrace.launcher.importing.source.Outcome;
import io.millrace.proxy.config.rules.RuleConfig;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.geo.MmdbWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the import of files of header_rewrite: each line becomes a rule, or is reported. */
final class HeaderRewriteTest extends AtsFixture {
    private static final String MAP = "map http://a.example/ http://o.example/";

    private void rewrite(String... lines) {
        samples.file("remap.config", MAP + " @plugin=header_rewrite.so @pparam=r.conf");
        samples.file("r.conf", lines);
    }

    /** Returns the imported rules: {@code condition -> actions}. */
    private List<String> rules() {
        ConfigResult result = ConfigLoader.parse(samples.yaml(), "millrace.yaml", Map.of());
        assertNotNull(result.config(), result::text);
        Stream<RuleConfig> rules = Stream.concat(
                result.config().rules().general().stream(),
                result.config().rules().byRemap().stream().flatMap(List::stream));
        return rules.map(rule -> rule.when() + " -> " + String.join(",", rule.actions()))
                .toList();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            quoteCharacter = '`',
            value = {
                "%{STATUS} =404 # status == 404",
                "%{STATUS} >399 # status > 399",
                "%{STATUS} (404,410) # status in (404, 410)",
                "%{METHOD} =GET # method == \"GET\"",
                "%{METHOD} =GET [NOT] # !(method == \"GET\")",
                "%{CLIENT-HEADER:X-Foo} # request_header[\"x-foo\"] =~ \".\"",
                "%{CLIENT-HEADER:X-Foo} =\"\" # !(request_header[\"x-foo\"] =~ \".\")",
                "%{CLIENT-HEADER:X-Foo} =foo [NOCASE,PRE] # request_header[\"x-foo\"] =~ \"(?i)^foo\"",
                "%{CLIENT-HEADER:X-Foo} =a.b [SUF] # request_header[\"x-foo\"] =~ \"a\\\\.b$\"",
                "%{CLIENT-HEADER:X-Foo} =a.b [NOCASE] # request_header[\"x-foo\"] =~ \"(?i)^a\\\\.b$\"",
                "%{HEADER:X-Foo} /^a/ # response_header[\"x-foo\"] =~ \"^a\"",
                "%{COOKIE:sid} =1 # cookie[\"sid\"] == \"1\"",
                "%{CLIENT-URL:PATH} =a/b # path == \"/a/b\"",
                "%{CLIENT-URL:PATH} /^a\\/b$/ # path =~ \"^/a/b$\"",
                "%{CLIENT-URL:HOST} (a,b) # host in (\"a\", \"b\")",
                "%{IP:CLIENT} {10.0.0.0/8,::1} # client in (\"10.0.0.0/8\", \"::1\")",
                "%{CACHE} =hit-fresh # cache == \"hit\"",
                "%{RANDOM:100} <5 # random < 5",
            })
    void conditionsBecomeExpressions(String condition, String expression) {
        rewrite("cond %{SEND_RESPONSE_HDR_HOOK} [AND]", "cond " + condition, "set-header X-A b");
        assertEquals(List.of(expression + " -> set_response_header"), rules());
        assertOutcome(Outcome.MAPPED, "r.conf", 1, "remap[0].rules[0]");
        assertOutcome(Outcome.MAPPED, "r.conf", 2, "remap[0].rules[0]");
        assertOutcome(Outcome.MAPPED, "r.conf", 3, "remap[0].rules[0]");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            value = {
                "REMAP_PSEUDO_HOOK # set-header X-A b # set_request_header",
                "SEND_REQUEST_HDR_HOOK # rm-header Cookie # remove_request_header",
                "READ_RESPONSE_HDR_HOOK # add-header X-A b # add_stored_header",
                "SEND_RESPONSE_HDR_HOOK # rm-header Server # remove_response_header",
                "REMAP_PSEUDO_HOOK # set-status 403 # answer.status",
                "REMAP_PSEUDO_HOOK # set-redirect 301 https://%{CLIENT-URL:HOST}/%{CLIENT-URL:PATH} # redirect.to",
                "REMAP_PSEUDO_HOOK # set-redirect 302 http://b.example/ [QSA] # redirect.to",
            })
    void operatorsBecomeActionsOfTheirHook(String hook, String operator, String action) {
        rewrite("cond %{" + hook + "}", operator);
        assertEquals(List.of("null -> " + action), rules());
    }

    @Test
    void countriesNeedTheDatabaseOfThePlugin(@TempDir Path directory) throws IOException {
        MmdbWriter writer = new MmdbWriter(24, 4).add(192, 0, 2, 0, 24, MmdbWriter.country("DE", "EU"));
        Path database = Files.write(directory.resolve("c.mmdb"), writer.bytes());
        rewrite(
                "cond %{SEND_RESPONSE_HDR_HOOK}",
                "cond %{GEO:COUNTRY} (DE,AT)",
                "set-header X-A b",
                "cond %{SEND_RESPONSE_HDR_HOOK}",
                "cond %{GEO:COUNTRY} =\"DE\" [NOT]",
                "set-header X-A c",
                "cond %{SEND_RESPONSE_HDR_HOOK}",
                "cond %{GEO:ASN} =64500",
                "set-header X-A d");
        samples.file(
                "remap.config",
                MAP + " @plugin=header_rewrite.so @pparam=--geo-db-path=" + database + " @pparam=r.conf");
        assertEquals(
                List.of(
                        "country in (\"DE\", \"AT\") -> set_response_header",
                        "!(country == \"DE\") -> set_response_header"),
                rules());
        assertHas("database: " + database);
        assertOutcome(Outcome.NOT_MAPPED, "r.conf", 9, "reads asn, which needs geo.asn_database");
    }

    @Test
    void partsOfTheUrlInRedirectionsAreKept() {
        rewrite("set-redirect 301 https://%{CLIENT-URL:HOST}/%{CLIENT-URL:PATH}?%{CLIENT-URL:QUERY}");
        assertHas("to: 'https://$host$path$query'");
        assertHas("status: 301");
    }

    @Test
    void groupsAndAlternativesAreCombinedAsInTrafficServer() {
        rewrite(
                "cond %{SEND_RESPONSE_HDR_HOOK}",
                "cond %{METHOD} =GET [OR]",
                "cond %{STATUS} =200",
                "cond %{GROUP}",
                "    cond %{COOKIE:a} =1 [OR]",
                "    cond %{COOKIE:b} =1",
                "cond %{GROUP:END} [NOT]",
                "    set-header X-A b",
                "cond %{SEND_RESPONSE_HDR_HOOK}",
                "    set-header X-C d");
        assertEquals(
                List.of(
                        "method == \"GET\" || (status == 200 && !(cookie[\"a\"] == \"1\" || cookie[\"b\"] == \"1\")) ->"
                                + " set_response_header",
                        "null -> set_response_header"),
                rules().stream().map(HeaderRewriteTest::withParentheses).toList());
    }

    /** The canonical form omits parentheses that the precedence makes superfluous. */
    private static String withParentheses(String rule) {
        return rule.replace("|| status == 200 && !(", "|| (status == 200 && !(")
                .replace("\"1\") ->", "\"1\")) ->")
                .replace("\"1\"))) ->", "\"1\")) ->");
    }

    @Test
    void branchesExcludeEachOther() {
        rewrite(
                "cond %{SEND_RESPONSE_HDR_HOOK}",
                "cond %{STATUS} =200",
                "  set-header X-Before b",
                "  if",
                "    cond %{METHOD} =GET",
                "      set-header X-A get",
                "  elif",
                "    cond %{METHOD} =HEAD",
                "      set-header X-A head",
                "  else",
                "    set-header X-A other",
                "  endif");
        assertEquals(
                List.of(
                        "status == 200 -> set_response_header",
                        "status == 200 && method == \"GET\" -> set_response_header",
                        "status == 200 && !(method == \"GET\") && method == \"HEAD\" -> set_response_header",
                        "status == 200 && !(method == \"GET\") && !(method == \"HEAD\") -> set_response_header"),
                rules());
        assertOutcome(Outcome.MAPPED, "r.conf", 5, "remap[0].rules[1]");
    }

    @Test
    void linesWithoutAnEquivalentAreNamed() {
        rewrite(
                "cond %{SEND_RESPONSE_HDR_HOOK}",
                "cond %{GEO:COUNTRY} =DE",
                "set-header X-A b",
                "cond %{SEND_RESPONSE_HDR_HOOK}",
                "set-header X-A %{STATUS}",
                "cond %{SEND_RESPONSE_HDR_HOOK}",
                "set-status 404",
                "cond %{REMAP_PSEUDO_HOOK}",
                "run-plugin x.so",
                "cond %{REMAP_PSEUDO_HOOK}",
                "set-header @internal b",
                "cond %{REMAP_PSEUDO_HOOK}",
                "cond %{COOKIE:a} =b",
                "set-header X-A b",
                "cond %{REMAP_PSEUDO_HOOK}",
                "set-header Host b",
                "cond %{SEND_RESPONSE_HDR_HOOK}",
                "set-header X-Kept b",
                "cond %{READ_RESPONSE_HDR_HOOK}",
                "cond %{METHOD} =GET",
                "set-header X-A b");
        assertOutcome(Outcome.NOT_MAPPED, "r.conf", 2, "reads country, which needs geo.database");
        assertOutcome(Outcome.NOT_MAPPED, "r.conf", 3, "reads country, which needs geo.database");
        assertOutcome(Outcome.NOT_MAPPED, "r.conf", 5, "values of rules are constant");
        assertOutcome(Outcome.NOT_MAPPED, "r.conf", 7, "the status of a response cannot be changed");
        assertOutcome(Outcome.NOT_MAPPED, "r.conf", 9, "the operator run-plugin has no equivalent");
        assertOutcome(Outcome.NOT_MAPPED, "r.conf", 11, "begin with @ have no equivalent");
        assertOutcome(Outcome.NOT_MAPPED, "r.conf", 14, "reads cookie, which differs between clients");
        assertOutcome(Outcome.NOT_MAPPED, "r.conf", 16, "Host: rules cannot change it");
        assertOutcome(Outcome.NOT_MAPPED, "r.conf", 21, "reads method and can differ between GET and HEAD");
        assertEquals(List.of("null -> set_response_header"), rules());
        assertHas("- map: http://a.example/");
        assertOutcome(Outcome.MAPPED, "r.conf", 18, "remap[0].rules[0]");
    }

    /** Rules that share stored responses must have the same rules; those with a difference are left out. */
    @Test
    void aRuleForOneOfTwoHostsWithCommonKeysIsReported() {
        String key = " @plugin=cachekey.so @pparam=--static-prefix=k.example";
        samples.file(
                "remap.config",
                MAP + key + " @plugin=header_rewrite.so @pparam=r.conf",
                "map http://b.example/ http://o.example/" + key);
        samples.file("r.conf", "set-header X-A b", "cond %{SEND_RESPONSE_HDR_HOOK}", "set-header X-B c");
        assertOutcome(Outcome.NOT_MAPPED, "r.conf", 1, "changes responses that remap[0] shares with remap[1]");
        assertEquals(List.of("null -> set_response_header"), rules());
        assertHas("- map: http://a.example/");
        assertHas("- map: http://b.example/");
    }

    @Test
    void filesOfPluginConfigApplyToAllRules() {
        samples.file("remap.config", MAP);
        samples.file("plugin.config", "header_rewrite.so --timezone=GMT g.conf");
        samples.file("g.conf", "set-header X-A b");
        assertEquals(List.of("null -> set_stored_header"), rules());
        assertOutcome(Outcome.NO_EFFECT, "plugin.config", 1, "the rules of g.conf were imported");
        assertOutcome(Outcome.MAPPED, "g.conf", 1, "rules[0]");
    }

    @Test
    void aMissingFileAndARedirectionAreReported() {
        samples.file(
                "remap.config",
                MAP + " @plugin=header_rewrite.so @pparam=none.conf",
                "redirect http://b.example/ http://c.example/ @plugin=header_rewrite.so @pparam=none.conf");
        assertOutcome(Outcome.NOT_MAPPED, "remap.config", 1, "the file none.conf does not exist");
        assertOutcome(Outcome.NOT_MAPPED, "remap.config", 2, "redirect sends no requests to an origin");
    }
}
