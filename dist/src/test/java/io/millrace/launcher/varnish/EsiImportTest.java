package io.millrace.launcher.varnish;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests which conditions around {@code beresp.do_esi} turn ESI on. */
final class EsiImportTest {
    private static final String FIELD = "beresp.http.Surrogate-Control";

    @TempDir
    Path directory;

    /** Returns the value of esi.when, {@code surrogate_control} without the key, or {@code off}. */
    private String when(String condition) throws IOException {
        Path file = Files.writeString(
                directory.resolve("a.vcl"),
                "vcl 4.1;\nbackend default { .host = \"127.0.0.1\"; }\nsub vcl_backend_response {\n  if ("
                        + condition.replace("@", FIELD) + ") { set beresp.do_esi = true; }\n}\n");
        String yaml = VarnishImport.read(file).yaml();
        assertNotNull(yaml);
        if (!yaml.contains("\nesi:\n")) {
            return "off";
        }
        return yaml.contains("\n  when: always") ? "always" : "surrogate_control";
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            quoteCharacter = '`',
            value = {
                "@ ~ \"ESI/1.0\" # surrogate_control",
                "@ ~ \"(?i)esi/1\\.0\" # surrogate_control",
                "@ # surrogate_control",
                "@ == \"content=ESI/1.0\" # surrogate_control",
                "!(@ !~ \"ESI/1.0\") # surrogate_control",
                "@ ~ \"ESI/1.0\" || @ ~ \"ESI\" # surrogate_control",
                "!(@ ~ \"ESI/1.0\") # off",
                "!@ # off",
                "@ !~ \"ESI/1.0\" # off",
                "@ != \"content=ESI/1.0\" # off",
                "@ == \"ESI/1.0\" # off",
                "@ == \"no-store\" # off",
                "@ ~ \"no-store\" # off",
                "@ ~ \".*\" # off",
                "@ ~ \"ESI/1.0\" || bereq.url ~ \"^/a\" # off",
                "@ ~ \"ESI/1.0\" && bereq.url ~ \"^/a\" # off",
                "beresp.http.Content-Type ~ \"html\" # always",
                "beresp.http.Content-Type !~ \"html\" # off",
            })
    void conditionsDecide(String condition, String when) throws IOException {
        assertEquals(when, when(condition));
    }
}
