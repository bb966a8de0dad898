package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Tests limits of requests to an origin on the packed product with four event loops: connections of the whole process,
 * the total time of a request, and the source address.
 */
class OriginLimitsTest {
    private static final int CLIENTS = 24;

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.withLeakDetection();

    private static final AtomicInteger inProgress = new AtomicInteger();
    private static final AtomicInteger most = new AtomicInteger();
    private static final CountDownLatch end = new CountDownLatch(1);

    private static MillraceProcess proxy;

    @BeforeAll
    static void start() throws IOException {
        for (int i = 0; i < CLIENTS; i++) {
            origin.on("/few/" + i, exchange -> {
                most.accumulateAndGet(inProgress.incrementAndGet(), Math::max);
                inProgress.decrementAndGet();
                exchange.answer(200, "few", "Cache-Control: no-store");
            });
        }
        origin.on("/late/", exchange -> {
            end.await();
            exchange.answer(200, "late");
        });
        origin.on("/from/", exchange -> exchange.answer(200, exchange.peer(), "Cache-Control: no-store"));
        Path config = product.newDirectory().resolve("millrace.yaml");
        Files.writeString(config, """
                worker: {event_loops: 4}
                origin: {connections_total_max: 2}
                remap:
                  - {map: /late/, to: "%1$s/late/", timeouts: {transaction: 300ms}}
                  - {map: /from/, to: "%1$s/from/", origin: {source_address: 127.0.0.2}}
                  - {map: /, to: "%1$s/"}
                """.formatted(origin.url()));
        proxy = product.launch().config(config).start();
    }

    @AfterAll
    static void release() {
        end.countDown();
    }

    @Test
    void allEventLoopsShareTheConnectionsOfAnOrigin() throws Exception {
        List<RawClient> clients = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            clients.add(RawClient.connect(proxy.port()).get("/few/" + i));
        }
        for (RawClient client : clients) {
            try (client) {
                assertEquals("few", client.response().text());
            }
        }
        assertTrue(most.get() <= 2, () -> "at the same time: " + most);
    }

    @Test
    void aRequestEndsWhenItsTimeIsOver() throws Exception {
        RawResponse late = RawClient.fetch(proxy.port(), "/late/");
        assertEquals(504, late.status());
        assertTrue(late.text().contains("timeouts.transaction"), late::text);
        proxy.millctl("metric", "get", "millrace_transaction_timeouts_total").succeeds();
    }

    @Test
    void theOriginSeesTheSourceAddressOfTheRule() throws Exception {
        assertEquals("127.0.0.2", RawClient.fetch(proxy.port(), "/from/").text());
    }
}
