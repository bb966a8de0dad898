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

/** Tests that lifetimes by URL do not store responses that VCL does not store. */
final class LifetimeImportTest {
    private static final Pattern RULE =
            Pattern.compile("  - when: (.*)\n    set_stored_header:\n      CDN-Cache-Control: (.*)");

    @TempDir
    Path directory;

    /** Returns the rules that set CDN-Cache-Control: condition, arrow, value. */
    private List<String> rules(String response) throws IOException {
        Path file = Files.writeString(
                directory.resolve("a.vcl"),
                "vcl 4.1;\nbackend default { .host = \"127.0.0.1\"; }\nsub vcl_backend_response {\n" + response
                        + "\n}\n");
        String yaml = VarnishImport.read(file).yaml();
        assertNotNull(yaml);
        List<String> rules = new ArrayList<>();
        Matcher rule = RULE.matcher(yaml);
        while (rule.find()) {
            rules.add(plain(rule.group(1)) + " -> " + plain(rule.group(2)));
        }
        return rules;
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

    private static long count(List<String> rules, String part) {
        assertEquals(1, rules.size(), rules::toString);
        return rules.stream().filter(each -> each.contains(part)).count();
    }
}
