package io.millrace.system;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Requests of the running product on the command line, without an access log and across a roll. */
@Tag("nightly")
class LiveLogTest {
    private static final Duration WATCHED_WITHIN = Duration.ofSeconds(30);

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.withLeakDetection();

    private static void awaitViewer(MillraceProcess proxy) {
        await("a viewer").atMost(WATCHED_WITHIN).until(() -> proxy.admin()
                .get("/metrics")
                .text()
                .contains("millrace_live_log_viewers{application=\"millrace\"} 1"));
    }

    @Test
    void followContinuesAcrossARollAndFailuresAreKept() throws Exception {
        origin.serves("/a", "content", "Cache-Control: max-age=600");
        origin.on("/failing", exchange -> exchange.answer(503, ""));
        MillraceProcess proxy = product.launch()
                .origin(origin.url())
                .set("log.access.enabled", "false")
                .shortWarmUp()
                .start();
        CompletableFuture<Command> follow = CompletableFuture.supplyAsync(() ->
                proxy.millctl("log", "follow", "--where", "path in (\"/a\", \"/b\")", "--count", "2", "-o", "json"));
        awaitViewer(proxy);
        RawClient.fetch(proxy.port(), "/other");
        RawClient.fetch(proxy.port(), "/a");
        proxy.millctl("server", "restart").succeeds();
        awaitViewer(proxy);
        RawClient.fetch(proxy.port(), "/b");
        Command followed = follow.join().succeeds();
        List<String> lines = followed.out().lines().toList();
        assertEquals(2, lines.size(), followed::toString);
        assertTrue(Json.parse(lines.get(0)).at("url").text().endsWith("/a"), followed::toString);
        assertTrue(Json.parse(lines.get(1)).at("url").text().endsWith("/b"), followed::toString);
        assertTrue(followed.err().contains("another worker serves"), followed::toString);
        RawClient.fetch(proxy.port(), "/failing");
        String failed = proxy.millctl("log", "failed").succeeds().out();
        assertTrue(failed.contains(" 503 ") && failed.contains("/failing"), failed);
        assertEquals(
                "no slow requests\n", proxy.millctl("log", "slow").succeeds().out());
    }
}
