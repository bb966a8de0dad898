package io.millrace.launcher.nginx;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests which hosts an {@code if} directive about the host redirects. */
final class HostConditionsTest {
    @TempDir
    Path directory;

    @ParameterizedTest
    @CsvSource({
        "a.example www.a.example, = a.example, redirect a.example; map www.a.example",
        "a.example www.a.example, ~ ^a\\.example$, redirect a.example; map www.a.example",
        "a.example www.a.example, ~ a\\.example, redirect a.example; redirect www.a.example",
        "a.example www.a.example, ~* A\\.example$, redirect a.example; redirect www.a.example",
        "a.example www.a.example, ~ ^www, map a.example; redirect www.a.example",
        "a.example www.a.example, ~ ^www$, map a.example; map www.a.example",
        "*.a.example, = www.a.example, regex_map .*\\.a\\.example; when host == \"www.a.example\"",
        "*.a.example, ~ ^www, regex_map .*\\.a\\.example; when host =~ \"^www\"",
    })
    void redirectsTheHostsOfTheCondition(String names, String condition, String expected) throws IOException {
        Path file = Files.writeString(directory.resolve("nginx.conf"), """
                http {
                  server { listen 80; server_name first.example; location / { proxy_pass http://127.0.0.1:8080; } }
                  server {
                    listen 80;
                    server_name %s;
                    if ($host %s) { return 301 https://new.example$request_uri; }
                    location / { proxy_pass http://127.0.0.1:8080; }
                  }
                }
                """.formatted(names, condition));
        String yaml = NginxImport.read(file, null).yaml();
        assertNotNull(yaml);
        List<String> rules = Stream.of(yaml.split("\n"))
                .map(line -> line.replaceAll(" +# .*", ""))
                .filter(line ->
                        line.matches(" +- (redirect|map|regex_map|when): .*") && !line.contains("first.example"))
                .map(line -> line.replaceAll("^ +- (\\w+): '?(http://)?(.*?)/?'?$", "$1 $3"))
                .toList();
        assertEquals(List.of(expected.split("; ")), rules);
    }
}
