package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests that the small launcher can read large configurations. */
@Tag("nightly")
class ManyRulesTest {
    private static final int RULES = 10_000;

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

    @Test
    void aFileOfTenThousandRulesIsServedAndReadAgain() throws IOException {
        Path file = product.newDirectory().resolve("millrace.yaml");
        Files.writeString(file, rules("/first/"));
        MillraceProcess proxy = product.launch().config(file).start();
        assertRedirects(proxy, "/first/");

        Files.writeString(file, rules("/second/"));
        Json report = proxy.admin().post("/v1/config/reload", "{}").json();
        assertTrue(report.at("ok").isTrue(), report::toString);
        assertRedirects(proxy, "/second/");
        assertTrue(proxy.isAlive(), proxy::describe);
    }

    private static String rules(String to) {
        StringBuilder text = new StringBuilder("cache: {ram_size: 32MiB}\nstorage: []\nremap:\n");
        for (int i = 0; i < RULES; i++) {
            text.append(
                    "  - redirect: http://h" + i + ".example.com/\n    to: http://www.example.com" + to + i + "/\n");
        }
        return text.toString();
    }

    private static void assertRedirects(MillraceProcess proxy, String to) throws IOException {
        try (RawClient client = RawClient.connect(proxy.port())) {
            client.send("GET /x HTTP/1.1\r\nHost: h" + (RULES - 1) + ".example.com\r\n\r\n");
            assertEquals(
                    "http://www.example.com" + to + (RULES - 1) + "/x",
                    client.response().field("Location"));
        }
    }
}
