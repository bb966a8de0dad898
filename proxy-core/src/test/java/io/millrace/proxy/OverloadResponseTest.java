package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.overload.OverloadGauge;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests an origin that answers with errors: stored responses are used longer until it recovers. */
class OverloadResponseTest {
    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private final AtomicBoolean ill = new AtomicBoolean();
    private final AtomicInteger asked = new AtomicInteger();

    private void start() throws Exception {
        proxy.start(
                request -> {
                    if (request.head().startsWith("GET /ill")) {
                        request.send(
                                ill.get()
                                        ? "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"
                                        : "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 0\r\n\r\n");
                    } else {
                        asked.incrementAndGet();
                        boolean old = request.head().startsWith("GET /old");
                        request.ok(
                                "Cache-Control: max-age=" + (old ? 10 : 0) + "\r\n",
                                RawInput.latin1("answer " + asked.get()));
                    }
                },
                config -> config.set("cache.overload.errors", "50%")
                        .set("cache.overload.stretch", "3")
                        .set("cache.overload.micro_lifetime", "2s")
                        .set("cache.overload.hold", "1s"));
    }

    private OverloadGauge gauge() {
        OverloadGauge gauge = proxy.proxy().shared().overload().of(0);
        assertNotNull(gauge);
        return gauge;
    }

    /** Requests objects that are not stored until the gauge changes; the windows are in real time. */
    private void askUntil(boolean over) throws Exception {
        ill.set(over);
        ProxyExtension.await("overload to be " + over, () -> {
            try {
                proxy.get("/ill");
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return gauge().isInOverload() == over;
        });
    }

    @Test
    void storedResponsesServeLongerOnlyWhileTheOriginFails() throws Exception {
        start();
        assertEquals("answer 1", proxy.get("/old").text());
        proxy.advanceSeconds(12);
        askUntil(true);
        RawClient.Response stale = proxy.get("/old");
        assertEquals("answer 1", stale.text());
        assertTrue(stale.head().contains("detail=overload"), stale.head());
        assertTrue(stale.head().contains("hit; ttl=-2"), stale.head());
        // A response without a lifetime is stored for a moment, which is over after two seconds.
        assertEquals("answer 2", proxy.get("/new").text());
        ProxyExtension.await(
                "the end of its fetch", () -> proxy.proxy().shared().collapser().size() == 0);
        assertEquals("answer 2", proxy.get("/new").text());
        proxy.advanceSeconds(2);
        assertEquals("answer 3", proxy.get("/new").text());
        assertEquals(2, proxy.counted(Counter.OVERLOAD_ANSWERS));
        assertTrue(proxy.proxy().metricsText().contains("millrace_overload_rules{application=\"millrace\"} 1"));

        askUntil(false);
        assertEquals("answer 4", proxy.get("/old").text());
        assertEquals("answer 5", proxy.get("/new").text());
        assertEquals(2, proxy.counted(Counter.OVERLOAD_ANSWERS));
    }
}
