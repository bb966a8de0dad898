package io.millrace.proxy;

import static io.millrace.proxy.http2.Http2Client.DATA;
import static io.millrace.proxy.http2.Http2Client.RST_STREAM;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.http2.Http2Client;
import io.millrace.proxy.observe.Counter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Tests the limit of a request's total time over real sockets, before and within the response. */
class TransactionTimeoutTest extends Http2Fixture {
    private static final String NO_STORE = "Cache-Control: no-store\r\n";

    private void startLimited(RawOrigin.Script script, String... settings) throws Exception {
        start(script, config -> {
            config.set("timeouts.transaction", "50ms");
            for (int i = 0; i < settings.length; i += 2) {
                config.set(settings[i], settings[i + 1]);
            }
            return config;
        });
    }

    private void waitOnSlow(RawOrigin.Exchange request) throws Exception {
        if (request.has("GET /slow")) {
            go.await();
        }
        request.ok(NO_STORE, RawInput.latin1("ok"));
    }

    @Test
    void aRequestWithoutAResponseGets504AndTheConnectionGoesOn() throws Exception {
        startLimited(this::waitOnSlow);
        RawClient client = proxy.client();
        RawClient.Response late = client.get("/slow").response();
        assertEquals(504, late.status());
        assertTrue(late.text().contains("timeouts.transaction"), late.text());
        assertEquals("ok", client.get("/a").response().text());
        assertEquals(1, proxy.counted(Counter.TRANSACTION_TIMEOUTS_REFUSED));
    }

    @Test
    void aResponseThatHasBegunIsBrokenOff() throws Exception {
        startLimited(request -> {
            request.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n" + NO_STORE + "\r\nhello");
            go.await();
        });
        RawClient client = proxy.client().get("/");
        assertEquals(200, client.head().status());
        assertEquals("hello", new String(client.in.readToEnd(), StandardCharsets.US_ASCII));
        assertEquals(1, proxy.counted(Counter.TRANSACTION_TIMEOUTS_BROKEN_OFF));
        ProxyExtension.await("the end", () -> proxy.counted(Counter.REQUESTS_ACTIVE) == 0);
    }

    /** Pauses within the response do not extend the time, unlike with timeouts of single steps. */
    @Test
    void aSlowButSteadyResponseEndsToo() throws Exception {
        startLimited(request -> {
            request.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n" + NO_STORE + "\r\n");
            while (go.getCount() > 0) {
                request.send("x");
            }
        });
        RawClient client = proxy.client().get("/");
        assertEquals(200, client.head().status());
        assertTrue(client.in.readToEnd().length < 1_000_000_000);
        assertEquals(1, proxy.counted(Counter.TRANSACTION_TIMEOUTS_BROKEN_OFF));
    }

    @Test
    void anUploadThatDoesNotEndGets504() throws Exception {
        startLimited(RawOrigin.Exchange::awaitClose);
        RawClient client =
                proxy.client().send("POST / HTTP/1.1\r\nHost: test.example\r\nContent-Length: 1000000\r\n\r\nabc");
        assertEquals(504, client.response().status());
    }

    @Test
    void aStaleResponseAnswersWhereItMay() throws Exception {
        startLimited(
                request -> {
                    if (request.number() == 1) {
                        request.ok("Cache-Control: max-age=10\r\n", RawInput.latin1("old"));
                    } else {
                        go.await();
                    }
                },
                "cache.force_stale_if_error",
                "1h");
        assertEquals("old", proxy.getAndSettle("/a").text());
        proxy.advanceSeconds(60);
        RawClient.Response stale = proxy.get("/a");
        assertEquals("old", stale.text());
        assertTrue(stale.field("cache-status").contains("transaction-timeout"), stale.head());
        assertEquals(1, proxy.counted(Counter.TRANSACTION_TIMEOUTS_STALE));
    }

    @Test
    void aStreamOfHttp2IsResetAndOthersGoOn() throws Exception {
        startLimited(request -> {
            if (request.has("GET /slow")) {
                request.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n" + NO_STORE + "\r\nhello");
                go.await();
            }
            request.ok(NO_STORE, RawInput.latin1("ok"));
        });
        Http2Client client = client();
        client.get(1, "/slow").await(DATA);
        assertEquals(1, client.await(RST_STREAM).streamId());
        client.get(3, "/a");
        assertEquals("ok", new String(client.await(DATA).payload(), StandardCharsets.US_ASCII));
    }

    private static void echoToTheEnd(RawOrigin.Exchange request) throws Exception {
        try {
            WebSocketPeer.echo(request);
        } catch (IOException e) {
            // The test ends the tunnel.
        }
    }

    @Test
    void aTunnelIsNotLimited() throws Exception {
        startLimited(
                request -> {
                    if (request.has("Upgrade")) {
                        echoToTheEnd(request);
                    } else {
                        waitOnSlow(request);
                    }
                },
                "upgrade",
                "websocket");
        RawClient tunnel = proxy.client().send(WebSocketPeer.request("/"));
        assertEquals(101, tunnel.head().status());
        assertEquals(504, proxy.client().get("/slow").response().status());
        tunnel.send(WebSocketPeer.clientFrame(WebSocketPeer.PING, RawInput.latin1("p")));
        assertEquals(WebSocketPeer.PONG, WebSocketPeer.read(tunnel.in, false).opcode());
    }

    @Test
    void withoutALimitNothingEnds() throws Exception {
        start(this::waitOnSlow);
        RawClient client = proxy.client().get("/slow");
        proxy.get("/a");
        go.countDown();
        assertEquals("ok", client.response().text());
        assertNull(proxy.get("/a").field("warning"));
        assertEquals(0, proxy.counted(Counter.TRANSACTION_TIMEOUTS_REFUSED));
    }
}
