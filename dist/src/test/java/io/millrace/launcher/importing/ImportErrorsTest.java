package io.millrace.launcher.importing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.nginx.NginxImport;
import io.millrace.launcher.squid.SquidImport;
import io.millrace.launcher.varnish.VarnishImport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the errors of files that the other proxies would refuse too, and random files. */
final class ImportErrorsTest {
    @TempDir
    Path directory;

    private ImportResult read(String kind, String text) throws IOException {
        Path file = directory.resolve(kind + ".conf");
        Files.writeString(file, text);
        Function<Path, ImportResult> importer =
                switch (kind) {
                    case "nginx" -> path -> NginxImport.read(path, null);
                    case "varnish" -> VarnishImport::read;
                    default -> SquidImport::read;
                };
        return importer.apply(file);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "nginx|server { listen 80;|1:20: unexpected end of file, expecting '}'",
                "nginx|listen 80; }|1:12: unexpected '}'",
                "nginx|listen 80|1:10: unexpected end of file, expecting ';' or '}'",
                "nginx|server { listen 80 }|1:20: unexpected '}', expecting ';' after 'listen'",
                "nginx|log_format x \"open|1:14: a quotation mark is not closed",
                "varnish|vcl 4.1; backend x { .host = \"a\" }|1:34: expected ';' after .host",
                "varnish|vcl 4.1; sub vcl_recv { if (req.url ~ ) { } }|1:39: expected a value, found ')'",
                "varnish|vcl 4.1; sub vcl_recv { set req.url = \"x\" }|1:43: expected ';', found '}'",
                "varnish|vcl 3.0;|1:5: version 3.0 is not supported; convert the file to VCL 4.0 or 4.1",
                "varnish|vcl 4.1; director x|1:10: 'director' is not a declaration of VCL 4"
            })
    void errorsHaveTheirPlace(String kind, String text, String problem) throws IOException {
        ImportResult result = read(kind, text);
        assertNull(result.yaml());
        assertEquals(List.of(directory.resolve(kind + ".conf") + ":" + problem), result.problems());
    }

    @Test
    void missingFilesAreNamed() {
        assertEquals(
                List.of(directory.resolve("none") + ": no such file or directory"),
                NginxImport.read(directory.resolve("none"), null).problems());
        assertEquals(
                List.of(directory + ": contains no nginx.conf, and no file *.conf"),
                NginxImport.read(directory, null).problems());
        assertEquals(
                List.of(directory.resolve("default.vcl") + ": no such file"),
                VarnishImport.read(directory).problems());
        assertEquals(
                List.of(directory.resolve("squid.conf") + ": no such file"),
                SquidImport.read(directory).problems());
    }

    /** A file that includes itself must end. */
    @Test
    void includesThatRepeatEnd() throws IOException {
        ImportResult nginx = read("nginx", "include nginx.conf;\nserver { listen 80; }\n");
        assertTrue(nginx.problems().get(0).contains("nested more than"), () -> nginx.problems()
                .toString());
        ImportResult squid = read("squid", "include squid.conf\nhttp_port 80\n");
        assertNull(squid.problems().isEmpty() ? null : squid.problems());
    }

    /** Any part of a sample gives a result or errors, never an exception. */
    @ParameterizedTest
    @CsvSource({"nginx", "varnish", "squid"})
    void brokenSamplesGiveAResult(String kind) throws IOException {
        java.util.Random random = new java.util.Random(7);
        Goldens goldens = new Goldens(kind);
        for (String sample : goldens.names()) {
            Path path = goldens.path(sample);
            if (Files.isDirectory(path)) {
                path = path.resolve(kind.equals("nginx") ? "nginx.conf" : "default.vcl");
            }
            if (!Files.isRegularFile(path)) {
                continue;
            }
            String text = Files.readString(path);
            for (int i = 0; i < 20; i++) {
                int from = random.nextInt(text.length());
                int to = Math.min(text.length(), from + 1 + random.nextInt(12));
                String broken = text.substring(0, from) + (i % 2 == 0 ? "" : "\"{;") + text.substring(to);
                ImportResult result = read(kind, broken);
                assertTrue(result.yaml() != null || !result.problems().isEmpty(), broken);
            }
        }
    }
}
