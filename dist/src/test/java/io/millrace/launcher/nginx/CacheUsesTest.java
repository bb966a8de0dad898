package io.millrace.launcher.nginx;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.importing.ImportResult;
import io.millrace.launcher.importing.source.ImportedLine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the translation of usual forms of a caching server: part of the result, and the outcome of one line. */
final class CacheUsesTest {
    @TempDir
    Path directory;

    /**
     * @param server directives of the server
     * @param expected text in the configuration, where a blank stands for any blanks; with {@code !} a text not in it
     * @param line start of a line
     * @param outcome outcome of this line
     */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            # Statuses share the shortest lifetime.
            listen 80; location / { C proxy_cache_valid 200 302 2d; proxy_cache_valid 404 10s; P } | negative_caching: enabled: true lifetime: 10s list: [302, 404] | proxy_cache_valid 404 | MAPPED
            listen 80; location / { C proxy_cache_valid 200 302 2d; proxy_cache_valid 404 10s; P } | heuristic_max_lifetime: 2d | proxy_cache_valid 200 | NOT_MAPPED
            listen 80; location / { C proxy_cache_valid 200 2d; proxy_cache_valid 301 1m; P }      | lifetime: 1m list: [301] | proxy_cache_valid 301 | MAPPED
            listen 80; location / { C proxy_cache_valid 200 2d; proxy_cache_valid 301 48h; P }     | heuristic_max_lifetime: 2d | proxy_cache_valid 301 | SAME_AS_DEFAULT
            listen 80; location / { C proxy_cache_valid 301 1h; P }                | lifetime: 1h list: [301] | proxy_cache_valid | MAPPED
            listen 80; location / { C proxy_cache_valid 404 5m; proxy_cache_valid 500 502 0; P }   | lifetime: 5m list: [404] | proxy_cache_valid 500 | SAME_AS_DEFAULT
            listen 80; location / { C proxy_cache_valid 404 5m; proxy_cache_valid any 0; P }       | lifetime: 5m list: [404] | proxy_cache_valid any | NOT_MAPPED
            listen 80; location / { C proxy_cache_valid 404 5m; proxy_cache_valid 404 1s; P }      | lifetime: 5m list: [404] | proxy_cache_valid 404 1s | NO_EFFECT
            listen 80; location / { C proxy_cache_valid 200 1s; proxy_cache_valid any 0; P }       | negative_caching: enabled: true lifetime: 0 list: [203, | proxy_cache_valid any | MAPPED
            listen 80; location / { C proxy_cache_valid 200 10m; proxy_cache_valid 301 404 1h; P } | lifetime: 1h list: [301, 404] | proxy_cache_valid 301 | MAPPED
            listen 80; location / { C proxy_cache_valid 200 10m; proxy_cache_valid 404 1m; proxy_cache_valid 301 1h; P } | lifetime: 1m list: [301, 404] | proxy_cache_valid 301 | NOT_MAPPED
            listen 80; location / { C proxy_cache_valid 200 10m; proxy_cache_valid 302 1m; proxy_cache_valid 404 0; P } | lifetime: 1m list: [302] | proxy_cache_valid 404 | NOT_MAPPED
            # Statuses without a line are not stored without a lifetime.
            listen 80; location / { C proxy_cache_valid 200 10m; P }              | lifetime: 0 list: [203, 204, 300, 301, 308, 404, 405, 410, 414, 501] | proxy_cache_valid 200 | MAPPED
            listen 80; location / { C proxy_cache_valid 200 301 10m; proxy_cache_valid 404 0; P } | lifetime: 0 list: [203, 204, 300, 308, 404, 405, 410, 414, 501] | proxy_cache_valid 404 | MAPPED
            listen 80; location / { C proxy_cache_valid 200 10m; proxy_cache_valid 404 1m; P } | list: [404] | proxy_cache_valid 200 | NOT_MAPPED
            listen 80; location / { C proxy_cache_valid any 10m; P }              | !lifetime: 0 | proxy_cache_valid any | MAPPED
            # Slices are parts of a response with 200.
            listen 80; location / { C slice 1m; proxy_cache_valid 200 206 1h; P }  | !206 | proxy_cache_valid | MAPPED
            listen 80; location / { C proxy_set_header Range $slice_range; P }     | cache: | proxy_set_header Range | NO_EFFECT
            # Without a lifetime nginx stores nothing.
            listen 80; location / { C proxy_ignore_headers Cache-Control; P }      | !ignore_server_no_cache | proxy_ignore_headers | NOT_MAPPED
            # Ignored lifetimes are replaced by that of the status.
            listen 80; location / { C proxy_ignore_headers Cache-Control Expires; proxy_cache_valid 200 1d; proxy_cache_valid 404 10s; P } | !guaranteed_ | proxy_ignore_headers | MAPPED
            listen 80; location / { C proxy_ignore_headers Cache-Control Expires; proxy_cache_valid 200 1d; proxy_cache_valid 404 10s; P } | `status in (404) && (response_header["Cache-Control"] =~ "(?i)max-?age" || response_header["Expires"] =~ "") && !(response_header["Cache-Control"] =~ "(?i)private") && !(response_header["Set-Cookie"] =~ "")' set_stored_header: CDN-Cache-Control: 'max-age=10' remove_response_header: [CDN-Cache-Control]` | proxy_ignore_headers | MAPPED
            listen 80; location / { C proxy_ignore_headers Cache-Control Expires; proxy_cache_valid 200 1d; proxy_cache_valid 404 0; P } | CDN-Cache-Control: 'max-age=0' | proxy_cache_valid 404 | MAPPED
            listen 80; location / { C proxy_ignore_headers Cache-Control Set-Cookie; proxy_cache_valid 200 1d; P } | status in (200) && response_header["Cache-Control"] =~ "(?i)max-?age" && !(response_header["Expires"] =~ "") && !(response_header["Cache-Control"] =~ "(?i)private")' set_stored_header: CDN-Cache-Control: 'max-age=86400' | proxy_ignore_headers | MAPPED
            listen 80; location / { C proxy_ignore_headers Expires; proxy_cache_valid 200 1d; P } | `status in (200) && response_header["Expires"] =~ "" && !(response_header["Cache-Control"] =~ "(?i)max-?age|no-cache|no-store|private") && !(` | proxy_ignore_headers | MAPPED
            # Variants by a map need the field from which it takes its values.
            listen 80; location / { C proxy_cache_key $host$uri$device; P }        | fields: [User-Agent] | proxy_cache_key | NOT_MAPPED
            listen 80; location / { C proxy_cache_key $tenant$uri; P }             | !fields: [Host] | proxy_cache_key | MAPPED
            # A limit of one location is none for all.
            listen 80; location / { P } location /a/ { limit_conn c 2; P }         | !per_client | limit_conn c | NOT_MAPPED
            listen 80; limit_conn c 20; location / { P } location /a/ { limit_conn c 2; P } | per_client: requests: 20 | limit_conn c 20 | MAPPED
            listen 80; limit_conn c 20; location / { P } location /a/ { limit_conn c 2; P } | per_client: requests: 20 | limit_conn c 2; | NOT_MAPPED
            # A limit of all clients together is no limit by client.
            listen 80; limit_conn s 100; location / { P } location /a/ { limit_conn c 2; P } | !per_client | limit_conn c 2; | NOT_MAPPED
            listen 80; limit_conn c 20; limit_conn s 100; location / { P }         | per_client: requests: 20 | limit_conn c 20 | MAPPED
            # Redirections of the origin.
            listen 443 ssl; server_name a.example; location / { P }                | reverse_map: http://10.0.0.1/ to: https://a.example/ | server_name | MAPPED
            listen 80; listen 443 ssl; server_name a.example; location / { P }     | reverse_map: http://10.0.0.1/ to: http://a.example/ - reverse_map: http://10.0.0.1/ to: https://a.example/ | server_name | MAPPED
            listen 80; server_name a.example; location /x/ { proxy_pass http://10.0.0.1/; } location / { P } | reverse_map: http://10.0.0.1/ to: http://a.example/ access: | proxy_pass http://10.0.0.1/; | MAPPED
            # A path before $request_uri, and a path in a URL with variables.
            listen 80; location /x/ { proxy_pass http://10.0.0.1/base$request_uri; } | to: http://10.0.0.1/base/x/ | proxy_pass | MAPPED
            listen 80; location /x/ { set $to 10.0.0.1; proxy_pass http://$to/base/; } | to: http://10.0.0.1/base/ | proxy_pass | NOT_MAPPED
            """)
    void isTranslated(String server, String expected, String line, String outcome) throws IOException {
        String text = server.replace(" C ", " proxy_cache z; ").replace("P }", "proxy_pass http://10.0.0.1; }");
        Path file = Files.writeString(
                directory.resolve("nginx.conf"),
                "http {\nproxy_cache_path /c keys_zone=z:1m max_size=1g;\nmap $http_user_agent $device { ~*mobile m; }\n"
                        + "map $http_host $tenant { ~^a a; }\nlimit_conn_zone $binary_remote_addr zone=c:1m;\nlimit_conn_zone $server_name zone=s:1m;\n"
                        + "server {\nssl_certificate /a.pem;\nssl_certificate_key /a.key;\n" + text + "\n}\n}\n");
        ImportResult result = NginxImport.read(file, null);
        assertEquals(List.of(), result.problems());
        assertNotNull(result.yaml());
        String yaml = result.yaml().replaceAll("#.*", "").replaceAll("\\s+", " ");
        boolean absent = expected.startsWith("!");
        assertTrue(yaml.contains(expected.substring(absent ? 1 : 0)) != absent, result::yaml);
        ImportedLine found = result.lines().stream()
                .filter(each -> each.text().startsWith(line))
                .findFirst()
                .orElseThrow();
        assertEquals(outcome, found.outcome().name(), found::note);
    }
}
