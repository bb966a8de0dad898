package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Tests that an operator's mark-down of one of two origins stops all requests to it, also after the worker's end, until
 * it is marked up.
 */
class OriginPutDownTest {

    @RegisterExtension
    static final ScriptedOrigin one = new ScriptedOrigin();

    @RegisterExtension
    static final ScriptedOrigin two = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.withLeakDetection();

    private static MillraceProcess proxy;

    @BeforeAll
    static void start() throws IOException {
        one.serves("/", "one", "Cache-Control: no-store");
        two.serves("/", "two", "Cache-Control: no-store");
        Path config = product.newDirectory().resolve("millrace.yaml");
        Files.writeString(config, """
                origins:
                  - {name: both, hosts: ["%s", "%s"]}
                remap:
                  - {map: /, to: "http://both.internal/", origins: both}
                """.formatted(one.url(), two.url()));
        proxy = product.launch().config(config).start();
    }

    /**
     * Returns the hosts that answer. Each event loop has its own rotation, so several requests are needed to reach
     * both.
     */
    private static Set<String> answers() throws IOException {
        Set<String> answers = new TreeSet<>();
        for (int i = 0; i < 20; i++) {
            answers.add(RawClient.fetch(proxy.port(), "/").text());
        }
        return answers;
    }

    private static Json first() {
        return proxy.millctl("origin", "list", "-o", "json").succeeds().json().at("hosts.0");
    }

    @Test
    void noRequestGoesToAnOriginThatIsPutDownUntilItIsPutUp() throws Exception {
        assertEquals(Set.of("one", "two"), answers());

        String host = one.url().substring("http://".length());
        proxy.millctl("origin", "down", host, "--reason", "deploy", "--time", "2h")
                .succeeds();
        assertEquals(Set.of("two"), answers());

        long before = proxy.worker().pid();
        proxy.killWorker();
        proxy.awaitWorkerAfter(before);
        assertEquals(Set.of("two"), answers());
        assertEquals("put_down", first().at("state").text());
        assertEquals("deploy", first().at("reason").text());
        assertTrue(first().at("until").number() > first().at("since").number());

        proxy.millctl("origin", "up", "both").succeeds();
        assertEquals(Set.of("one", "two"), answers());
    }
}
