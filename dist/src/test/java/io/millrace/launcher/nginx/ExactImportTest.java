package io.millrace.launcher.nginx;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.importing.ImportResult;
import io.millrace.launcher.importing.source.ImportedLine;
import io.millrace.launcher.importing.source.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that rules neither permit nor store what nginx does not. */
final class ExactImportTest {
    @TempDir
    Path directory;

    private ImportResult read(String http, String... servers) throws IOException {
        StringBuilder text = new StringBuilder("http {\n" + http + "\n");
        for (String each : servers) {
            text.append("server {\n").append(each).append("\n}\n");
        }
        Path file = Files.writeString(directory.resolve("nginx.conf"), text.append("}\n"));
        ImportResult result = NginxImport.read(file, null);
        assertEquals(List.of(), result.problems());
        return result;
    }

    private static String yaml(ImportResult result) {
        String text = result.yaml();
        assertNotNull(text);
        return text;
    }

    private static int count(String text, String part) {
        return text.split(Pattern.quote(part), -1).length - 1;
    }

    private static ImportedLine line(ImportResult result, String start) {
        return result.lines().stream()
                .filter(each -> each.text().startsWith(start))
                .findFirst()
                .orElseThrow();
    }

    private static final String PROXY = "proxy_pass http://127.0.0.1:8080;";

    @Test
    void cookiesThatBypassTheCacheIgnoreCase() throws IOException {
        ImportResult result = read(
                "proxy_cache_path /c keys_zone=z:1m;",
                "listen 80; location / { proxy_cache z; proxy_cache_bypass $cookie_phpsessid; " + PROXY + " }");
        String text = yaml(result);
        assertTrue(text.contains("request_header[\"Cookie\"] =~ \"(?i)(?:^|[;,] *)phpsessid"), text);
        assertEquals(0, count(text, "cookie[\""));
    }

    @Test
    void namesInMapsIgnoreCase() throws IOException {
        ImportResult result = read(
                "proxy_cache_path /c keys_zone=z:1m;\nmap $http_x_mode $skip { default 0; Fresh.1 1; \"\" 0; }",
                "listen 80; location / { proxy_cache z; proxy_cache_bypass $skip; " + PROXY + " }");
        String text = yaml(result);
        assertTrue(text.contains("request_header[\"x-mode\"] =~ \"(?i)^Fresh\\\\.1$\""), text);
    }

    @Test
    void namesInMapsWithHostnamesAreNotMapped() throws IOException {
        ImportResult result = read(
                "proxy_cache_path /c keys_zone=z:1m;\n"
                        + "map $host $skip {\n hostnames;\n default 0;\n *.a.example 1;\n .b.example 1;\n}",
                "listen 80; location / { proxy_cache z; proxy_cache_bypass $skip; " + PROXY + " }");
        assertEquals(Outcome.NOT_MAPPED, line(result, "*.a.example").outcome());
        assertEquals(Outcome.NOT_MAPPED, line(result, ".b.example").outcome());
        assertEquals(0, count(yaml(result), "bypass: true"));
    }

    @Test
    void argumentsOtherThanAValueBypassTheCache() throws IOException {
        ImportResult result = read(
                "proxy_cache_path /c keys_zone=z:1m;",
                "listen 80; location / { set $skip 0; if ($arg_mode != cached) { set $skip 1; } proxy_cache z;"
                        + " proxy_cache_bypass $skip; " + PROXY + " }");
        String text = yaml(result);
        assertTrue(text.contains("!(query =~ \"(?i)"), text);
        assertTrue(text.contains("mode=(?-i:cached)(?:&|$)\")"), text);
    }

    @Test
    void expressionsInOneLocationAreComparedInTheirOrder() throws IOException {
        ImportResult result = read(
                "",
                "listen 80; location / { " + PROXY + "\n location /a/ { " + PROXY + "\n"
                        + "location ~ ^/a/b/ { " + PROXY + " }\n"
                        + "location ~ \\.(ht|bak)$ { deny all; }\n } }");
        String text = yaml(result);
        int first = text.indexOf("/a/b/");
        int next = text.indexOf("- map", first);
        assertTrue(first > 0 && next > first, text);
        assertEquals(0, count(text.substring(first, next), "(ht|bak)"), text);
        assertEquals(1, count(text, "path =~ "), text);
    }

    @Test
    void pathsWithBlanksKeepTheirRefusals() throws IOException {
        ImportResult result = read(
                "",
                "listen 80; location \"/a b/\" { if ($http_x = 1) { return 403; } " + PROXY + " }\n"
                        + "location = \"/c d\" { if ($http_x = 1) { return 403; } " + PROXY + " }\n"
                        + "location \"/e f/\" { deny all; " + PROXY + " }");
        String text = yaml(result);
        assertEquals(2, count(text, "status: 403"), text);
        assertTrue(text.contains("path == \"/c%20d\""), text);
        assertTrue(text.contains("/e%20f/"), text);
        assertEquals(List.of(), result.warnings());
    }

    @Test
    void refusalsOfAServerAreWrittenOnceForEachPath() throws IOException {
        ImportResult result = read(
                "",
                "listen 80; if ($http_x = 1) { return 403; }\n location = / { " + PROXY + " } location / { " + PROXY
                        + " }");
        assertEquals(1, count(yaml(result), "status: 403"), yaml(result));
    }

    @Test
    void aRefusalWithAnotherSyntaxKeepsTheLaterOnes() throws IOException {
        ImportResult result = read(
                "",
                "listen 80; location / {\n if ($http_x ~ \"[0-9]{1,2000}\") { return 403; }\n"
                        + "if ($http_y ~ b) { return 403; } " + PROXY + " }\n"
                        + "location ~ \\.a\\Z { deny all; }\n location ~ \\.b$ { deny all; }");
        String text = yaml(result);
        assertEquals(Outcome.NOT_MAPPED, line(result, "location ~ \\.a").outcome());
        assertEquals(Outcome.NOT_MAPPED, line(result, "if ($http_x").outcome());
        assertEquals(Outcome.MAPPED, line(result, "location ~ \\.b").outcome());
        assertTrue(text.contains("path =~ \"(?:\\\\.|%2E)b$\""), text);
        assertTrue(text.contains("request_header[\"y\"] =~ \"b\""), text);
        assertTrue(result.warnings().contains("requests that meet a condition are not refused: see nginx.conf:5"));
        assertTrue(result.warnings().stream().anyMatch(each -> each.contains("\\.a\\Z are not refused")));
    }

    @Test
    void aRefusalThatTheValidatorRemovesHasAWarning() throws IOException {
        ImportResult result = read(
                "",
                "listen 80; location / {\n if ($http_x ~ \"(abcdefghijklmnopqrstuvwxyz){1,900}\") { return 403; }\n"
                        + PROXY + " }");
        assertEquals(Outcome.NOT_MAPPED, line(result, "if ").outcome());
        assertTrue(
                result.warnings().stream().anyMatch(each -> each.contains("refuses are not refused: see nginx.conf:")),
                () -> result.warnings().toString());
    }

    @Test
    void aLimitOfALocationHoldsForItOnly() throws IOException {
        ImportResult result = read(
                "limit_req_zone $binary_remote_addr$server_name zone=a:1m rate=1r/s;",
                "listen 80; location /x { limit_req zone=a; " + PROXY + " } location / { return 200 ok; }");
        String text = yaml(result);
        assertEquals(-1, text.indexOf("\nrequest_limits:"), text);
        assertEquals(1, count(text, "    request_limits:"), text);
        assertEquals(0, count(text, "host]"), text);
    }

    @Test
    void aLimitOfTheServerHoldsForAllRequests() throws IOException {
        String server = "listen 80; server_name %s; limit_req zone=a; location / { " + PROXY + " }";
        String zone = "limit_req_zone $server_name zone=a:1m rate=9r/s;";
        assertTrue(yaml(read(zone, server.formatted("a.example"))).contains("\nrequest_limits:"));
        String two = yaml(read(
                zone + "\nlimit_req zone=a;",
                server.formatted("a.example").replace("limit_req zone=a;", ""),
                server.formatted("b.example").replace("limit_req zone=a;", "")));
        assertEquals(-1, two.indexOf("\nrequest_limits:"), two);
        assertEquals(count(two, "to: http://127.0.0.1:8080/"), count(two, "key: [all]"), two);
    }

    @Test
    void limitsByCookieAndParameterAreNotMapped() throws IOException {
        for (String key : List.of("$cookie_a", "$arg_a")) {
            ImportResult result = read(
                    "limit_req_zone " + key + " zone=a:1m rate=1r/s;",
                    "listen 80; location / {\n limit_req zone=a;\n " + PROXY + " }");
            assertEquals(Outcome.NOT_MAPPED, line(result, "limit_req zone=a").outcome());
            assertEquals(List.of("requests are not limited: see nginx.conf:5"), result.warnings());
        }
    }

    @Test
    void fieldsOfAnExpressionAreWrittenForAllLocationsThatAreCompared() throws IOException {
        ImportResult result = read(
                "",
                "listen 80; location / { " + PROXY + " }\n location /b/ { " + PROXY + " }\n location ^~ /c/ { " + PROXY
                        + " }\n location ~ \\.css$ {\n add_header X-Frame-Options DENY always;\n " + PROXY + " }");
        assertEquals(2, count(yaml(result), "X-Frame-Options: "), yaml(result));
    }

    @Test
    void restrictionsOfAnExpressionAreNamedInWarnings() throws IOException {
        ImportResult result = read(
                "limit_conn_zone $binary_remote_addr zone=c:1m;",
                "listen 80; location / { " + PROXY + " }\n location ~ \\.css$ {\n limit_conn c 1;\n"
                        + "if ($http_x = 1) {\n return 403;\n }\n " + PROXY + " }");
        assertEquals(Outcome.NOT_MAPPED, line(result, "limit_conn c").outcome());
        assertEquals(Outcome.MAPPED, line(result, "if ").outcome());
        assertEquals(1, result.warnings().size(), () -> result.warnings().toString());
        assertTrue(result.warnings().get(0).contains("\\.css$ are not restricted: see nginx.conf:"));
    }

    @Test
    void restrictionsAreComparedWithThoseOfAllLocations() throws IOException {
        ImportResult result = read(
                "limit_req_zone $binary_remote_addr zone=a:1m rate=1r/s;",
                "listen 80; location / { limit_req zone=a; " + PROXY + " }\n location /b/ { limit_req_dry_run on; "
                        + PROXY
                        + " }\n location ~ \\.css$ {\n limit_req zone=a;\n " + PROXY + " }\n location ^~ /c/ { " + PROXY
                        + " }");
        assertEquals(
                List.of(Outcome.NOT_MAPPED),
                result.lines().stream()
                        .filter(each -> each.line() == 7)
                        .map(ImportedLine::outcome)
                        .toList());
        assertEquals(
                List.of("requests for paths that match \\.css$ are not restricted: see nginx.conf:7"),
                result.warnings());
    }

    @ParameterizedTest(name = "keepalive_requests {0} is {1}")
    @CsvSource({"0, 1", "1, 1", "500, 500"})
    void zeroKeepaliveRequestsEndAConnectionAfterOneResponse(String nginx, String millrace) throws IOException {
        String text = yaml(read("keepalive_requests " + nginx + ";", "listen 80; location / { " + PROXY + " }"));
        assertTrue(text.matches("(?s).*requests_per_connection: " + millrace + "\\s.*"), text);
    }

    @Test
    void theLargestOfSeveralNumbersOfRequestsIsNotZero() throws IOException {
        String text = yaml(read(
                "",
                "listen 80; server_name a; keepalive_requests 0; location / { " + PROXY + " }",
                "listen 80; server_name b; keepalive_requests 20; location / { " + PROXY + " }"));
        assertTrue(text.matches("(?s).*requests_per_connection: 20\\s.*"), text);
    }
}
