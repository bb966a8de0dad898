package io.millrace.launcher.varnish;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that lifetimes by URL do not store responses that VCL does not store. */
final class LifetimeImportTest {
    private static final Pattern RULE =
            Pattern.compile("  - (?:when: (.*)\n    )?set_stored_header:(?: +#.*)?\n {6,8}CDN-Cache-Control: (.*)");

    @TempDir
    Path directory;

    /** Returns the rules that set CDN-Cache-Control: condition, arrow, value. */
    private List<String> rules(String response) throws IOException {
        String yaml = yaml(response);
        List<String> rules = new ArrayList<>();
        Matcher rule = RULE.matcher(yaml);
        while (rule.find()) {
            rules.add(plain(String.valueOf(rule.group(1))) + " -> " + plain(rule.group(2)));
        }
        return rules;
    }

    private String yaml(String response) throws IOException {
        Path file = Files.writeString(
                directory.resolve("a.vcl"),
                "vcl 4.1;\nbackend default { .host = \"127.0.0.1\"; }\nsub vcl_backend_response {\n" + response
                        + "\n}\n");
        String yaml = VarnishImport.read(file).yaml();
        assertNotNull(yaml);
        return yaml;
    }

    /** Returns a value without its quotes and its comment. */
    private static String plain(String value) {
        return value.replaceAll(" +# .*", "").replaceAll("^'|'$", "");
    }

    private void assertEnds(List<String> rules, String... ends) {
        assertEquals(ends.length, rules.size(), rules::toString);
        for (int i = 0; i < ends.length; i++) {
            String rule = rules.get(i);
            assertTrue(rule.endsWith(ends[i]), rule);
        }
    }

    @Test
    void errorsWithoutALifetimeAreNotStored() throws IOException {
        List<String> rules = rules("if (bereq.url ~ \"^/a\") { set beresp.ttl = 1h; }\n"
                + "if (beresp.status >= 500) { set beresp.ttl = 0s; }");
        assertEnds(rules, "max-age=3600", "status >= 500 -> no-store");
    }

    @Test
    void uncacheableErrorsAreNotStoredAfterALaterLifetime() throws IOException {
        List<String> rules = rules("if (beresp.status >= 500) { set beresp.uncacheable = true; }\n"
                + "if (bereq.url ~ \"^/a\") { set beresp.ttl = 1h; }");
        assertEnds(rules, "max-age=3600", "status >= 500 -> no-store");
    }

    @Test
    void errorsHaveTheirOwnLifetime() throws IOException {
        List<String> rules = rules("if (bereq.url ~ \"^/a\") { set beresp.ttl = 1h; }\n"
                + "if (beresp.status == 404) { set beresp.ttl = 30s; }");
        assertEnds(rules, "max-age=3600", "max-age=30");
        assertTrue(rules.get(1).contains("status == 404 && "), rules::toString);
    }

    @Test
    void aLaterLifetimeByUrlReplacesThatOfErrors() throws IOException {
        List<String> rules = rules("if (beresp.status >= 500) { set beresp.ttl = 0s; }\n"
                + "if (bereq.url ~ \"^/a\") { set beresp.ttl = 1h; }");
        assertEnds(rules, "max-age=3600");
    }

    @Test
    void statusAndUrlTogetherLimitALifetime() throws IOException {
        List<String> rules = rules("if (bereq.url ~ \"^/a\") { set beresp.ttl = 1h; }\n"
                + "if (bereq.url ~ \"^/a/b\" && beresp.status >= 400) { set beresp.ttl = 0s; }");
        assertEnds(rules, "max-age=3600", "status >= 400) -> no-store");
    }

    @Test
    void cookiesPreventStoringUnlessTheyAreRemoved() throws IOException {
        String lifetime = "if (bereq.url ~ \"^/a\") { set beresp.ttl = 1h; }";
        String removed = "unset beresp.http.Set-Cookie;";
        String guard = "response_header[\"Set-Cookie\"]";
        assertTrue(rules(lifetime + "if (bereq.url ~ \"^/b\") { " + removed + " }")
                .get(0)
                .contains(guard));
        assertTrue(rules("if (bereq.url ~ \"^/b\") { " + removed + " }" + lifetime)
                .get(0)
                .contains(guard));
        assertEquals(0, count(rules(lifetime + removed), guard));
        assertEquals(0, count(rules("if (bereq.url ~ \"^/a\") { " + removed + " }" + lifetime), guard));
        assertEquals(0, count(rules("if (bereq.url ~ \"^/a\") { " + removed + " set beresp.ttl = 1h; }"), guard));
    }

    @Test
    void surrogateControlPreventsStoring() throws IOException {
        assertTrue(rules("if (bereq.url ~ \"^/a\") { set beresp.ttl = 1h; }")
                .get(0)
                .contains("!(response_header[\"Surrogate-Control\"] =~ \"(?i)no-store\")"));
    }

    /** Each return under a condition excludes its responses from the lifetimes that follow. */
    @ParameterizedTest
    @ValueSource(strings = {"abandon", "retry", "fail", "error(503)", "deliver", "pass(10s)"})
    void earlierReturnsExcludeTheirResponses(String action) throws IOException {
        for (String after : List.of(
                "set beresp.ttl = 1h;",
                "if (bereq.url ~ \"^/a\") { set beresp.ttl = 1h; }",
                "if (beresp.status == 404) { set beresp.ttl = 1h; }")) {
            List<String> rules = rules("if (beresp.http.X-Bad ~ \"1\") { return (" + action + "); }\n" + after).stream()
                    .filter(each -> each.endsWith("max-age=3600"))
                    .toList();
            assertEquals(1, rules.size(), rules::toString);
            assertTrue(rules.get(0).contains("!(response_header[\"X-Bad\"] =~ \"1\")"), rules::toString);
        }
    }

    @Test
    void earlierReturnsExcludeTheirResponsesFromFields() throws IOException {
        String yaml = yaml("if (beresp.status >= 500) { return (fail); }\nset beresp.http.X-A = \"b\";");
        assertTrue(yaml.contains("when: '!(status >= 500)'"), yaml);
    }

    /** A lifetime without an exact condition excludes more responses, or is not written. */
    @Test
    void returnsWithPartsThatRulesCannotTestExcludeMore() throws IOException {
        assertTrue(rules("if (beresp.status >= 500 && bereq.is_bgfetch) { return (abandon); }\nset beresp.ttl = 1h;")
                .get(0)
                .contains("!(status >= 500)"));
        String unknown = "if (bereq.retries > 3) { return (abandon); }\nset beresp.ttl = 1h;";
        assertEquals(List.of(), rules(unknown));
        assertTrue(yaml(unknown).contains("set beresp.ttl = 1h;  -> rules cannot test this condition"), yaml(unknown));
        assertTrue(!yaml(unknown).contains("guaranteed"), yaml(unknown));
    }

    @Test
    void theLastAssignmentDecides() throws IOException {
        assertEnds(
                rules("set beresp.ttl = 1h;\nif (bereq.url ~ \"^/a\") { set beresp.ttl = 5m; }"),
                "max-age=3600",
                "max-age=300");
        assertEnds(
                rules("if (bereq.url ~ \"^/a\") { set beresp.ttl = 5m; }\nset beresp.ttl = 1h;"),
                "max-age=300",
                "max-age=3600");
        assertEnds(
                rules("set beresp.ttl = 1h;\nif (beresp.status == 404) { set beresp.ttl = 10s; }"),
                "max-age=3600",
                "max-age=10");
        assertEnds(
                rules("set beresp.ttl = 0s;\nif (bereq.url ~ \"^/a\") { set beresp.ttl = 5m; }"),
                "no-store",
                "max-age=300");
    }

    @Test
    void statusesWithoutAnErrorHaveTheirLifetime() throws IOException {
        List<String> rules = rules("if (beresp.status == 200) { set beresp.ttl = 2h; } else { set beresp.ttl = 5s; }");
        assertEnds(rules, "max-age=7200", "max-age=5");
        assertTrue(rules.get(0).startsWith("status in (200, 206, 304) && "), rules::toString);
        assertTrue(rules.get(1).startsWith("!(status in (200, 206, 304)) && "), rules::toString);
    }

    @Test
    void alternativesWithAnchorsBecomeConditions() throws IOException {
        String yaml = yaml("if (bereq.url ~ \"^/a|\\.php$\") { set beresp.http.X-A = \"b\"; }");
        assertTrue(
                yaml.contains("when: '(path =~ \"^/a\" || ((path =~ \"\\\\.php$\" && query == \"\") || query =~ "),
                yaml);
    }

    @Test
    void responsesWithAFieldAreNotStored() throws IOException {
        String lifetime = "if (bereq.url ~ \"^/a\") { set beresp.ttl = 1h; }\n";
        String excluded = "if (beresp.http.X-Private) { set beresp.uncacheable = true; }\n";
        String no = "response_header[\"X-Private\"] =~ \"\" -> no-store";
        assertEnds(rules(lifetime + excluded), "max-age=3600", no);
        assertEnds(rules(excluded + lifetime), "max-age=3600", no);
        assertEnds(rules(lifetime + "if (beresp.http.X-Private) { return (pass(2m)); }"), "max-age=3600", no);
    }

    @Test
    void noLifetimeIsWrittenBesideATestThatRulesDoNotHave() throws IOException {
        String vcl = "if (bereq.url ~ \"^/a\") { set beresp.ttl = 1h; }\n"
                + "if (bereq.http.X-Pass) { set beresp.uncacheable = true; }";
        assertEquals(List.of(), rules(vcl));
        assertTrue(
                yaml(vcl).contains("the lifetime would also apply to responses that rules cannot exclude"), yaml(vcl));
    }

    /** 5 × 5 × 5 combinations of tests are more than the importer compares, in an alternative too. */
    @Test
    void noLifetimeIsWrittenBesideAConditionWithTooManyCombinations() throws IOException {
        String one = "(beresp.http.A ~ \"1\" || beresp.http.A ~ \"2\" || beresp.http.A ~ \"3\" || beresp.http.A ~ \"4\""
                + " || beresp.http.A ~ \"5\")";
        String many = one + " && " + one.replace("A", "B") + " && " + one.replace("A", "C");
        for (String condition : List.of(many, "beresp.status >= 500 || (" + many + ")")) {
            String vcl = "if (bereq.url ~ \"^/a\") { set beresp.ttl = 1h; }\n" + "if (" + condition
                    + ") { set beresp.uncacheable = true; }";
            assertEquals(List.of(), rules(vcl));
            assertTrue(
                    yaml(vcl).contains("the lifetime would also apply to responses that rules cannot exclude"),
                    yaml(vcl));
            assertTrue(
                    yaml(vcl).contains("uncacheable = true;  -> responses are excluded by URL and host only"),
                    yaml(vcl));
        }
        assertTrue(
                yaml("if (" + many + ") { set beresp.ttl = 1h; }")
                        .contains("'more than 64 combinations of tests': lifetimes are chosen by URL, host and"),
                yaml("if (" + many + ") { set beresp.ttl = 1h; }"));
    }

    /** The negations of earlier branches alone are more combinations than the importer compares. */
    @Test
    void responsesAreExcludedAfterManyBranches() throws IOException {
        StringBuilder vcl = new StringBuilder("if (bereq.url ~ \"^/a\") { set beresp.ttl = 1h; }\n");
        for (char c = 'A'; c <= 'G'; c++) {
            vcl.append(c == 'A' ? "if" : " elsif")
                    .append(" (beresp.http.A" + c + " ~ \"1\" && beresp.http.B" + c + " ~ \"1\")")
                    .append(" { set beresp.http.X = \"1\"; }");
        }
        vcl.append(" elsif (beresp.http.X-Private) { set beresp.uncacheable = true; }");
        List<String> rules = rules(vcl.toString());
        assertTrue(rules.get(rules.size() - 1).endsWith("-> no-store"), rules::toString);
        assertTrue(rules.get(rules.size() - 1).contains("X-Private"), rules::toString);
    }

    @Test
    void staleResponsesGetNoLaterLifetime() throws IOException {
        String rule = rules("if (beresp.ttl <= 0s) { set beresp.uncacheable = true; }\nset beresp.ttl = 1h;")
                .get(0);
        assertTrue(rule.startsWith("!((!(status in (200, 203,"), rule);
        assertTrue(rule.contains("(?:max-age|s-maxage) *= *0*"), rule);
    }

    @Test
    void alternativesOfExpressionsMatchTheWholeUrl() throws IOException {
        String yaml = yaml("if (bereq.url ~ \"^/a|^/b\") { set beresp.uncacheable = true; }");
        assertTrue(yaml.contains("url_regex: '^[a-z]+://[^/]+/a|^[a-z]+://[^/]+/b'"), yaml);
    }

    private static long count(List<String> rules, String part) {
        assertEquals(1, rules.size(), rules::toString);
        return rules.stream().filter(each -> each.contains(part)).count();
    }
}
