package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Who asks from an address that no filter allows gets 403, and the others what they ask for. */
class FilteredClientsTest {

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.withLeakDetection();

    private static MillraceProcess proxy;

    @BeforeAll
    static void start() throws IOException {
        origin.serves("/", "the origin", "Cache-Control: max-age=3600");
        Path config = product.newDirectory().resolve("millrace.yaml");
        Files.writeString(config, """
                filters:
                  - name: first
                    action: allow
                    src_ip: 127.0.0.1
                    in_ip: 127.0.0.0/8
                remap:
                  - map: http://closed.example/
                    to: %1$s/
                    filters: first
                  - map: http://open.example/
                    to: %1$s/
                """.formatted(origin.url()));
        proxy = product.launch().config(config).start();
    }

    private static RawResponse ask(String local, String host) throws IOException {
        try (RawClient client = RawClient.connect(local, proxy.port())) {
            return client.send("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n").response();
        }
    }

    @Test
    void onlyTheAllowedAddressIsServed() throws Exception {
        assertEquals("the origin", ask("127.0.0.1", "closed.example").text());
        RawResponse refused = ask("127.0.0.2", "closed.example");
        assertEquals(403, refused.status());
        assertEquals(
                "millrace; detail=no-filter:remap[0].filters",
                refused.field("Cache-Status").replace("\"", ""));
        assertEquals("the origin", ask("127.0.0.2", "open.example").text());
        assertEquals("the origin", ask("127.0.0.1", "closed.example").text());
    }
}
