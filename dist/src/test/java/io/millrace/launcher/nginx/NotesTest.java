package io.millrace.launcher.nginx;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.launcher.importing.source.ImportedLine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the notes about directives that agree with Millrace only with one of their values. */
final class NotesTest {
    @TempDir
    Path directory;

    @ParameterizedTest
    @CsvSource({
        "underscores_in_headers on, NO_EFFECT, 'the value is on, as in Millrace'",
        "underscores_in_headers off, NOT_MAPPED, fields with an underscore in their name are not removed",
        "proxy_pass_request_body on, NO_EFFECT, 'the value is on, as in Millrace'",
        "proxy_pass_request_body off, NOT_MAPPED, "
                + "'origins get the method, fields and content of the client''s request'",
        "proxy_store off, NO_EFFECT, 'the value is off, as in Millrace'",
        "satisfy all, NO_EFFECT, 'the value is all, as in Millrace'",
        "satisfy any, NO_EFFECT, 'with satisfy any, one passed access rule is enough; see the notes at these rules'",
        "gzip off, SAME_AS_DEFAULT, ''",
        "gzip_vary on, NO_EFFECT, 'the value is on, as in Millrace'",
        "gzip_vary off, NO_EFFECT, "
                + "'if compression is on, responses of its types always have Vary: Accept-Encoding'",
        "gzip_proxied any, NO_EFFECT, 'the value is any, as in Millrace'",
        "gzip_proxied expired, NO_EFFECT, responses to requests with Via are compressed like all others",
        "gzip_types text/css, NO_EFFECT, no imported rule uses the directive",
        "mirror /copy, NOT_MAPPED, no location /copy of the server has a proxy_pass; write mirror.to",
        "mirror off, NO_EFFECT, 'the value is off, as in Millrace'",
        "error_page 404 /404.html, NOT_MAPPED, " + "the importer does not translate the directive; write error_pages",
    })
    void explainsTheDirective(String directive, String outcome, String note) throws IOException {
        Path file = Files.writeString(
                directory.resolve("nginx.conf"),
                "http {\n  server {\n    listen 80;\n    location / { proxy_pass http://127.0.0.1:8080; }\n    "
                        + directive + ";\n  }\n}\n");
        ImportedLine line = NginxImport.read(file, null).lines().stream()
                .filter(each -> each.text().startsWith(directive))
                .findFirst()
                .orElseThrow();
        assertEquals(outcome + ": " + note, line.outcome().name() + ": " + line.note());
    }

    @ParameterizedTest
    @CsvSource({
        "proxy_cache_path /c keys_zone=z:10m, nginx sets no limit here",
        "proxy_cache_path /c keys_zone=z:10m max_size=10gb, '''10gb'' is not understood'",
    })
    void explainsTheDefaultSizeOfStorage(String directive, String reason) throws IOException {
        Path file = Files.writeString(
                directory.resolve("nginx.conf"),
                "http {\n  " + directive + ";\n  server {\n    listen 80;\n"
                        + "    location / { proxy_pass http://127.0.0.1:8080; proxy_cache z; }\n  }\n}\n");
        ImportedLine line = NginxImport.read(file, null).lines().stream()
                .filter(each -> each.text().startsWith(directive))
                .findFirst()
                .orElseThrow();
        assertEquals(
                "NOT_MAPPED: max_size: " + reason + "; 10GiB is written, set it to the size of the disk",
                line.outcome().name() + ": " + line.note());
    }

    /** The lifetimes of a location with an expression are rules, one for each line that decides a status. */
    @Test
    void explainsALifetimeWithoutAStatusOfItsOwn() throws IOException {
        Path file = Files.writeString(directory.resolve("nginx.conf"), """
                http {
                  proxy_cache_path /c keys_zone=z:10m;
                  server {
                    listen 80;
                    location / { proxy_pass http://127.0.0.1:8080; }
                    location ~ \\.css$ {
                      proxy_pass http://127.0.0.1:8080;
                      proxy_cache z;
                      proxy_cache_valid 200 1d;
                      proxy_cache_valid any 1m;
                      proxy_cache_valid 404 5m;
                    }
                  }
                }
                """);
        List<String> lines = NginxImport.read(file, null).lines().stream()
                .filter(each -> each.text().startsWith("proxy_cache_valid"))
                .map(each -> each.outcome().name() + ": " + each.note())
                .toList();
        assertEquals("NO_EFFECT: earlier lines list its statuses, or it lists only 206", lines.get(2));
        assertEquals(List.of("MAPPED: ", "MAPPED: "), lines.subList(0, 2));
    }
}
