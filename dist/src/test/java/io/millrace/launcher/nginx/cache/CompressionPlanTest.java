package io.millrace.launcher.nginx.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.millrace.launcher.nginx.NginxImport;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests how the directives of gzip, brotli and zstd become {@code compression}. */
final class CompressionPlanTest {
    @TempDir
    Path directory;

    /** Imports a server with two locations, and returns the lines about compression without comments. */
    private String compression(String http, String first, String second) throws IOException {
        Path file = Files.writeString(
                directory.resolve("nginx.conf"),
                "http {\n" + http + "\n  server {\n    listen 80;\n    location / { proxy_pass http://127.0.0.1:8080; "
                        + first + " }\n    location /b/ { proxy_pass http://127.0.0.1:8080; " + second
                        + " }\n  }\n}\n");
        String yaml = NginxImport.read(file, null).yaml();
        assertNotNull(yaml);
        ConfigResult result = ConfigLoader.parse(yaml, "millrace.yaml", Map.of());
        assertNotNull(result.config(), result::text);
        StringBuilder found = new StringBuilder();
        int depth = -1;
        for (String line : yaml.lines().toList()) {
            String text = line.replaceAll("(^| +)# .*", "");
            int indent = text.length() - text.stripLeading().length();
            if (text.strip().equals("compression:")) {
                depth = indent;
                found.append(indent == 0 ? "all:" : "rule:");
            } else if (depth >= 0 && !text.isBlank() && indent > depth) {
                found.append(' ').append(text.strip()).append(';');
            } else if (!text.isBlank()) {
                depth = -1;
            }
        }
        return found.toString();
    }

    @Test
    void defaultsOfNginxAreWritten() throws IOException {
        assertEquals(
                "all: enabled: true; encodings: [gzip]; types: [text/html]; min_size: 20B; gzip_level: 1;",
                compression("  gzip on;", "", ""));
    }

    @Test
    void nothingIsWrittenIfItIsOff() throws IOException {
        assertEquals("", compression("  gzip off; gzip_types text/css;", "", "brotli off;"));
    }

    @Test
    void aRuleThatDoesNotCompressKeepsTheOthersApart() throws IOException {
        assertEquals(
                "rule: enabled: true; encodings: [gzip]; types: [text/html, text/css]; gzip_level: 9;",
                compression("  gzip on; gzip_min_length 1k; gzip_comp_level 9;", "gzip_types text/css;", "gzip off;"));
    }

    @Test
    void allEncodingsHaveTheTypesOfAllAndTheSmallestSize() throws IOException {
        assertEquals(
                "all: enabled: true; encodings: [br, gzip]; types: [text/html, text/x-a, text/css]; min_size: 256B;"
                        + " br_level: 11; gzip_level: 1;",
                compression(
                        "  gzip on; gzip_types text/css; gzip_min_length 1000; brotli on; brotli_comp_level 11;"
                                + " brotli_types text/x-a; brotli_min_length 256;",
                        "",
                        ""));
    }

    @Test
    void levelsAreLimited() throws IOException {
        assertEquals(
                "all: enabled: true; encodings: [zstd]; types: [text/html]; min_size: 20B; zstd_level: 19;",
                compression("  zstd on; zstd_comp_level 22;", "", ""));
    }
}
