package io.millrace.system;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests the state of a single origin that dies, as the packed product reports and uses it. */
@Tag("nightly")
class HostDatabaseTest {
    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.withLeakDetection();

    private static String statusOf(MillraceProcess proxy, String path) throws IOException {
        return String.valueOf(RawClient.fetch(proxy.port(), path).field("Cache-Status"));
    }

    @Test
    void staleResponsesOfADeadOriginAreSentWithoutTryingIt() throws Exception {
        origin.serves("/", "once", "ETag: \"1\"", "Cache-Control: max-age=0, stale-if-error=600");
        Path config = product.newDirectory().resolve("millrace.yaml");
        Files.writeString(config, """
                origin: {markdown: {fail_threshold: 2, retry_time: 1h, retry_time_max: 1h}}
                remap: [{map: /, to: "%s/"}]
                """.formatted(origin.url()));
        MillraceProcess proxy = product.launch().config(config).start();
        assertEquals("once", RawClient.fetch(proxy.port(), "/").text());
        String up = proxy.millctl("host", "list").succeeds().out();
        assertTrue(up.startsWith("up   " + origin.url()), up);

        origin.stop();
        for (int i = 0; i < 2; i++) {
            String status = statusOf(proxy, "/");
            assertTrue(status.contains("connect-refused"), status);
        }
        String skipped = statusOf(proxy, "/");
        assertTrue(skipped.contains("origin-down"), skipped);
        Json host = proxy.millctl("host", "show", "127.0.0.1", "-o", "json")
                .succeeds()
                .json()
                .at("origins.0");
        assertEquals("down", host.at("state").text());
        assertEquals("connect-refused", host.at("reason").text());
        assertEquals(2, host.at("failures_in_a_row").number());
        String explained = proxy.millctl("explain", proxy.url("/")).succeeds().out();
        assertTrue(explained.contains("not tried if the stored response may be served stale"), explained);
        // The launcher compares alarms with the worker's state every 5 seconds.
        await().atMost(Duration.ofSeconds(30))
                .until(() -> proxy.millctl("alarm", "list").succeeds().out().contains("origin-down"));

        String cleared = proxy.millctl("host", "clear", "127.0.0.1").succeeds().out();
        assertTrue(cleared.startsWith("forgot 1 origin"), cleared);
        String tried = statusOf(proxy, "/");
        assertTrue(tried.contains("connect-refused"), tried);
    }
}
