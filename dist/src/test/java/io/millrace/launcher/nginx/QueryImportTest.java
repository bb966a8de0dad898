package io.millrace.launcher.nginx;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.importing.ImportResult;
import io.millrace.launcher.importing.source.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that conditions on the query, the path and the client match the requests that they match in nginx. */
final class QueryImportTest {
    private static final String PROXY = "proxy_pass http://127.0.0.1:8080;";

    @TempDir
    Path directory;

    private ImportResult read(String http, String location) throws IOException {
        Path file = Files.writeString(
                directory.resolve("nginx.conf"),
                "http {\n" + http + "\nserver {\nlisten 80;\nlocation / {\n" + location + "\n" + PROXY + "\n}\n}\n}\n");
        ImportResult result = NginxImport.read(file, null);
        assertEquals(List.of(), result.problems());
        assertNotNull(result.yaml());
        return result;
    }

    /** Returns the expressions of cache_rules, without quotes. */
    private static List<String> expressions(ImportResult result) {
        List<String> all = new ArrayList<>();
        Matcher line = Pattern.compile("url_regex: (.*?)(?: +#.*)?\n").matcher(String.valueOf(result.yaml()));
        while (line.find()) {
            all.add(line.group(1).replaceAll("^'|'$", "").replace("''", "'"));
        }
        return all;
    }

    private static boolean isFound(List<String> expressions, String url) {
        return expressions.stream()
                .anyMatch(each ->
                        com.google.re2j.Pattern.compile(each).matcher(url).find());
    }

    @ParameterizedTest
    @CsvSource({
        "$args, ~^preview, /a?preview=1, /a?x=preview",
        "$args, a=1, /a?A=1, /a?a=12",
        "$query_string, ~*^(a|b)=, /a?B=1, /a?c=a",
        "$args, ~^a=1$|^b=, /a?b=2, /a?a=12",
        "$request_uri, ~^/a|^/b, /b/c, /c/b",
        "$request_uri, ~^/a$|x=1, /c?x=1, /a/",
        "$request_uri, /a?b=1, /a?b=1, /a?b=12",
        "$uri, ~^/a$|^/b$, /b?x=1, /bc",
        "$uri, ~\\.php, /a.php?x=1, /a?x=.php",
        "$uri, ~^/a.*z$, /abz, /a?z=/z",
    })
    void linesOfMapsMatchTheSameUrls(String variable, String line, String matching, String other) throws IOException {
        ImportResult result = read(
                "proxy_cache_path /c keys_zone=z:1m;\nmap " + variable + " $skip { default 0; \""
                        + line.replace("\\", "\\\\") + "\" 1; }",
                "proxy_cache z; proxy_cache_bypass $skip; proxy_no_cache $skip;");
        List<String> found = expressions(result);
        assertEquals(1, found.size(), result.yaml());
        assertTrue(isFound(found, "http://a.example" + matching), result.yaml());
        assertTrue(!isFound(found, "http://a.example" + other), result.yaml());
    }

    @ParameterizedTest
    @CsvSource({
        "$args, (^a|b)=, query =~",
        "$is_args, ?, query !=",
        "$remote_addr, ::1, client == \"::1\"",
        "$remote_addr, 2001:DB8::1, client == \"2001:db8::1\"",
    })
    void linesOfMapsBecomeConditions(String variable, String line, String expected) throws IOException {
        String tilde = line.startsWith("(") ? "~" : "";
        ImportResult result = read(
                "proxy_cache_path /c keys_zone=z:1m;\nmap " + variable + " $skip { default 0; \"" + tilde + line
                        + "\" 1; }",
                "proxy_cache z; proxy_cache_bypass $skip;");
        String yaml = String.valueOf(result.yaml());
        assertTrue(yaml.contains(expected), yaml);
        assertTrue(yaml.contains("bypass: true"), yaml);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "$args ~ ^a=1; query =~ \"^a=1\"",
                "$args = a=1; query == \"a=1\"",
                "$query_string; !(query in (\"\", \"0\"))",
                "$is_args; query != \"\"",
                "$is_args = ''; query == \"\"",
                "$uri ~ ^/[\\w.-]+/x$; path =~ \"^/[\\\\w.-]+(?:/|%2F)x$\"",
                "$uri ~ <script; path =~ \"(?:<|%3C)script\"",
                "$uri ~* /\\.git; path =~ \"(?i)(?:/|%2F)(?:\\\\.|%2E)git\"",
                "$remote_addr = ::1; client == \"::1\"",
                "$remote_addr != 2001:db8::1; client != \"2001:db8::1\"",
            })
    void refusalsBecomeConditions(String condition, String when) throws IOException {
        ImportResult result = read("", "if (" + condition + ") { return 403; }");
        String yaml = String.valueOf(result.yaml());
        assertTrue(yaml.contains("- when: '" + when.replace("'", "''") + "'"), yaml);
        assertTrue(yaml.contains("status: 403"), yaml);
        assertEquals(List.of(), result.warnings());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "$uri ~ [<>]",
                "$uri ~ a\\sb",
                "$request_uri ~ ^/a\\?b",
                "$remote_addr = 2001:DB8::1",
                "$remote_addr != ::ffff:10.0.0.1",
                "$remote_addr ~ ^10\\.",
                "$bad",
                "$country = XX",
            })
    void refusalsWithoutAConditionHaveAWarning(String condition) throws IOException {
        ImportResult result = read(
                "map $args $bad { default 0; ~^x 1; }\ngeo $country { default ZZ; 2001:DB8::/32 XX; }",
                "if (" + condition + ") { return 403; }");
        assertEquals(
                Outcome.NOT_MAPPED,
                result.lines().stream()
                        .filter(each -> each.text().startsWith("if"))
                        .findFirst()
                        .orElseThrow()
                        .outcome());
        assertEquals(1, result.warnings().size(), () -> result.warnings().toString());
    }

    @ParameterizedTest
    @CsvSource({"$args", "$query_string", "$is_args", "$uri", "$bad"})
    void limitsByTheQueryHaveAWarning(String key) throws IOException {
        ImportResult result = read(
                "map $args $bad { default ''; ~^x 1; }\nlimit_req_zone " + key + " zone=a:1m rate=1r/s;",
                "limit_req zone=a;");
        assertEquals(1, result.warnings().size(), () -> result.warnings().toString());
    }

    @ParameterizedTest
    @CsvSource({
        "::1, ::1",
        "2001:DB8::/32, 2001:DB8::/32",
        "2001:db8::1/32, 2001:db8::/32",
        "10.0.0.1/8, 10.0.0.0/8",
    })
    void addressesOfFilters(String address, String expected) throws IOException {
        ImportResult result = read("", "deny " + address + ";");
        String yaml = String.valueOf(result.yaml());
        assertTrue(yaml.matches("(?s).*src_ip: \\[['\"]?" + Pattern.quote(expected) + "['\"]?].*"), yaml);
    }
}
