package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.observe.Counter;
import java.io.IOException;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests stale responses of a single origin that accepts no connections, and its return. */
class DeadOriginTest {
    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private int port;

    /** Stores a response that is stale from now on, and stops the origin. */
    private void startAndDie(UnaryOperator<ProxyConfig.Builder> more) throws IOException {
        proxy.start(request -> request.ok("Cache-Control: max-age=1\r\n", RawInput.latin1("first")), more::apply);
        assertEquals("first", proxy.get("/a").text());
        port = proxy.origin().port();
        proxy.origin().close();
        proxy.advanceSeconds(10);
    }

    private String stale() throws IOException {
        RawClient.Response response = proxy.get("/a");
        assertEquals("first", response.text());
        return response.field("cache-status");
    }

    private void markDown() throws IOException {
        for (int i = 0; i < 3; i++) {
            String status = stale();
            assertTrue(status.contains("connect-refused"), status);
        }
    }

    @Test
    void staleResponsesAreSentWithoutARequestOnceTheOriginIsDown() throws Exception {
        startAndDie(config -> config);
        markDown();
        assertTrue(stale().contains("origin-down"));
        assertEquals(1, proxy.counted(Counter.ORIGIN_DOWN_STALE));
        assertEquals(502, proxy.get("/other").status(), "sent, because nothing is stored");
    }

    /** Expects that the next stale response is validated in the background, with an origin that is back. */
    private void expectReturn() throws Exception {
        try (RawOrigin again = new RawOrigin(
                request -> request.ok("Cache-Control: max-age=100\r\n", RawInput.latin1("second")), port)) {
            assertTrue(stale().contains("origin-down"));
            ProxyExtension.await("the new response", () -> {
                try {
                    return proxy.get("/a").text().equals("second");
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            assertEquals(1, again.requests());
        }
    }

    @Test
    void oneRequestAfterTheWaitValidatesInTheBackground() throws Exception {
        startAndDie(config -> config.set("origin.markdown.retry_time", "20s"));
        markDown();
        proxy.advanceSeconds(10);
        assertTrue(stale().contains("origin-down"));
        proxy.advanceSeconds(15);
        expectReturn();
    }

    @Test
    void aMissMarksAnOriginUpThatIsBack() throws Exception {
        startAndDie(
                config -> config.set("origin.markdown.retry_time", "1h").set("origin.markdown.retry_time_max", "1h"));
        markDown();
        try (RawOrigin again =
                new RawOrigin(request -> request.ok("Cache-Control: max-age=100\r\n", RawInput.latin1("new")), port)) {
            assertEquals("new", proxy.get("/other").text());
            assertEquals("new", proxy.get("/a").text());
            assertEquals(2, again.requests());
        }
    }
}
