package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.observe.Counter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests clients that do not read their responses, over real sockets and with a small budget. */
class SlowClientsProxyTest {
    private static final int STUCK = 64;
    /** More bytes than kernels buffer for a client, and than the budget has for all of them. */
    private static final byte[] LARGE = ProxyExtension.content(16 << 20);

    private static final byte[] SMALL = ProxyExtension.content(200_000);

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private void start(String... settings) throws IOException {
        proxy.start(
                request -> request.ok(
                        request.has(" /cached") ? "Cache-Control: max-age=600\r\n" : "Cache-Control: no-store\r\n",
                        request.has("/large") ? LARGE : SMALL),
                config -> {
                    for (String setting : settings) {
                        int equals = setting.indexOf('=');
                        config.set(setting.substring(0, equals), setting.substring(equals + 1));
                    }
                    return config;
                });
    }

    private List<RawClient> stuckReaders(int count) throws IOException {
        List<RawClient> stuck = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            stuck.add(proxy.slowClient().get("/large/" + i));
        }
        return stuck;
    }

    private long inFlightBytes() {
        return proxy.proxy().memory().pinnedBytes();
    }

    /** Returns true if the request was served and not refused. */
    private boolean getsWhole(String path) throws IOException {
        RawClient.Response response = proxy.get(path);
        // A refusal is a valid response if it is complete; the request is retried as the response states.
        if (response.status() == 503) {
            assertEquals("1", response.field("retry-after"));
            return false;
        }
        assertEquals(200, response.status());
        assertArrayEquals(SMALL, response.content());
        return true;
    }

    @Test
    void readersThatTakeNothingAreClosedAndOthersAreServed() throws Exception {
        start("limits.memory_in_flight=8MiB");
        getsWhole("/cached");
        stuckReaders(STUCK);
        int gets = 0;
        while (proxy.counted(Counter.SLOW_CLIENTS_MEMORY) == 0) {
            getsWhole("/miss/" + gets++);
            getsWhole("/cached");
            assertTrue(gets < 100_000, "no slow client was ever closed");
        }
        ProxyExtension.await("room", () -> inFlightBytes() < (6 << 20) + (1 << 19));
        // Readers that began late may fill the memory once more.
        for (int served = 0; served < 20; gets++) {
            served = getsWhole("/after/" + gets) ? served + 1 : 0;
            assertTrue(gets < 200_000, "the room does not stay");
        }
        assertEquals(0, proxy.proxy().memory().budget().allocationFailures());
    }

    @Test
    void memoryComesBackWhenReadersLeave() throws Exception {
        start("limits.memory_in_flight=64MiB");
        getsWhole("/miss");
        proxy.settle();
        long idleBytes = inFlightBytes();
        List<RawClient> stuck = stuckReaders(16);
        ProxyExtension.await("pinned memory", () -> inFlightBytes() > 4 << 20);
        for (RawClient client : stuck) {
            client.close();
        }
        ProxyExtension.await("the memory back", () -> inFlightBytes() <= idleBytes);
    }

    @Test
    void withEnoughMemoryNoClientIsClosed() throws Exception {
        start();
        RawClient slow = proxy.slowClient().get("/large/1");
        ProxyExtension.await("a response that waits", () -> inFlightBytes() > 256 << 10);
        getsWhole("/miss");
        assertArrayEquals(LARGE, slow.response().content());
        assertEquals(0, proxy.counted(Counter.SLOW_CLIENTS_MEMORY) + proxy.counted(Counter.SLOW_CLIENTS_ORIGIN));
    }

    @Test
    void originConnectionThatOthersWaitForIsTakenFromReadersThatTakeNothing() throws Exception {
        start("origin.connections_max=2");
        stuckReaders(2);
        ProxyExtension.await("both", () -> proxy.origin().requests() == 2);
        RawClient.Response response = proxy.get("/miss");
        assertEquals(200, response.status());
        assertArrayEquals(SMALL, response.content());
        assertTrue(proxy.counted(Counter.SLOW_CLIENTS_ORIGIN) > 0);
        assertEquals(0, proxy.counted(Counter.ORIGIN_FAILURES_LIMIT));
    }
}
