package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.server.ServingLoop;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests client connections: content in both directions, pipelining, timeouts, drain and end. */
class ClientConnectionTest {
    private static final String FRESH = "Cache-Control: max-age=600\r\n";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private final CountDownLatch go = new CountDownLatch(1);

    @TempDir
    Path directory;

    /** Request content is sent to the origin as it arrives. */
    private static ProxyConfig.Builder unheld(ProxyConfig.Builder config) {
        return config.set("origin.request_buffer", "0");
    }

    // slow clients

    @Test
    void slowClientGetsEveryByteOfABodyThatIsNotStoredInBoundedMemory() throws Exception {
        byte[] content = ProxyExtension.content(24 << 20);
        proxy.start(request -> request.ok("Cache-Control: no-store\r\n", content));
        RawClient client = proxy.slowClient().get("/a");
        client.head();
        ByteArrayOutputStream got = new ByteArrayOutputStream(content.length);
        while (got.size() < content.length) {
            assertTrue(proxy.usedBytes() < 6 << 20, () -> "bytes in use: " + proxy.usedBytes());
            got.write(client.in.read(Math.min(1 << 16, content.length - got.size())));
        }
        assertArrayEquals(content, got.toByteArray());
    }

    @Test
    void slowClientOfAStoredBodyDoesNotHoldUpTheOriginAndGetsEveryByte() throws Exception {
        byte[] content = ProxyExtension.content(24 << 20);
        proxy.start(request -> request.ok(FRESH, content), config -> config.storage(directory, 96 << 20)
                .set("cache.fill_window", "256KiB"));
        RawClient client = proxy.slowClient().get("/a");
        client.head();
        ProxyExtension.await("the fill is stored", () -> proxy.counted(Counter.FILLS_STORED) == 1);
        assertTrue(proxy.usedBytes() < 12 << 20, () -> "bytes in use: " + proxy.usedBytes());
        assertArrayEquals(content, client.in.read(content.length));
        assertArrayEquals(content, proxy.get("/a").content());
        assertEquals(1, proxy.origin().requests());
    }

    @Test
    void purgeDoesNotBreakOffASlowClientThatReadsFromTheStore() throws Exception {
        byte[] content = ProxyExtension.content(24 << 20);
        proxy.start(
                request -> {
                    request.send("HTTP/1.1 200 OK\r\nContent-Length: " + content.length + "\r\n" + FRESH + "\r\n");
                    request.send(Arrays.copyOf(content, 20 << 20));
                    go.await();
                    request.send(Arrays.copyOfRange(content, 20 << 20, 24 << 20));
                },
                config -> config.storage(directory, 96 << 20).set("cache.fill_window", "64KiB"));
        RawClient client = proxy.slowClient().get("/a");
        client.head();
        RawClient fast = proxy.client().get("/a");
        fast.head();
        fast.in.read(20 << 20);
        proxy.purge("/a");
        // Nothing is stored from here on, so a client that stops reading rightly slows down the origin.
        fast.close();
        go.countDown();
        assertArrayEquals(content, client.in.read(content.length));
    }

    /** More hits than the channel buffers, followed by the client's end before the first is answered. */
    @Test
    void hitsWhoseAnswersAreMoreThanTheChannelKeepsAreAllSentBeforeTheClientsEndCloses() throws Exception {
        byte[] content = ProxyExtension.content(4096);
        proxy.start(request -> request.ok(FRESH, content));
        proxy.get("/a");
        proxy.settle();
        ServingLoop serving = proxy.proxy().loops().get(0);
        RawClient client = proxy.client();
        ProxyExtension.await("it is accepted", () -> serving.connections().size() == 1);
        serving.loop().execute(() -> {
            try {
                client.send("GET /a HTTP/1.1\r\nHost: test.example\r\n\r\n".repeat(20));
                client.socket.shutdownOutput();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        for (int i = 0; i < 20; i++) {
            assertArrayEquals(content, client.response().content());
        }
        assertNull(client.in.readHead());
    }

    // request content

    @Test
    void requestContentOfEitherFramingReachesTheOrigin() throws Exception {
        byte[] content = ProxyExtension.content(3 << 20);
        proxy.start(request -> {
            byte[] got = request.has("chunked")
                    ? request.in().readChunked()
                    : request.in().read(content.length);
            request.ok("", RawInput.latin1(Arrays.equals(content, got) ? "same" : "other"));
        });
        RawClient client = proxy.client();
        client.send("PUT /a HTTP/1.1\r\nHost: test.example\r\nContent-Length: " + content.length + "\r\n\r\n");
        assertEquals("same", client.send(content).response().text());
        client.send("POST /a HTTP/1.1\r\nHost: test.example\r\nTransfer-Encoding: chunked\r\n\r\n");
        for (int i = 0; i < content.length; i += 1 << 18) {
            client.send("40000\r\n")
                    .send(Arrays.copyOfRange(content, i, i + (1 << 18)))
                    .send("\r\n");
        }
        assertEquals("same", client.send("0\r\n\r\n").response().text());
    }

    @Test
    void requestContentIsHeldBackWhileTheOriginDoesNotTakeIt() throws Exception {
        byte[] content = ProxyExtension.content(24 << 20);
        proxy.start(request -> {
            go.await();
            request.ok(
                    "", RawInput.latin1(Arrays.equals(content, request.in().read(content.length)) ? "same" : "other"));
        });
        RawClient client = proxy.client();
        client.send("PUT /a HTTP/1.1\r\nHost: test.example\r\nContent-Length: " + content.length + "\r\n\r\n");
        AtomicReference<IOException> problem = new AtomicReference<>();
        Thread sender = new Thread(() -> {
            try {
                client.send(content);
            } catch (IOException e) {
                problem.set(e);
            }
        });
        sender.start();
        ProxyExtension.await("a request at the origin", () -> proxy.origin().requests() > 0);
        assertTrue(proxy.usedBytes() < 6 << 20, () -> "bytes in use: " + proxy.usedBytes());
        go.countDown();
        assertEquals("same", client.response().text());
        sender.join(RawClient.WAIT_MILLIS);
        assertNull(problem.get());
    }

    /** RFC 9110 s10.1.1. */
    @Test
    void expectationIsAnsweredByTheOrigin_rfc9110_s10_1_1() throws Exception {
        proxy.start(request -> {
            if (request.has("/refused")) {
                request.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n");
                request.awaitClose();
                return;
            }
            request.send("HTTP/1.1 100 Continue\r\n\r\n");
            request.ok("", request.in().read(5));
        });
        String rest = " HTTP/1.1\r\nHost: test.example\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n";
        RawClient client = proxy.client().send("POST /a" + rest);
        assertEquals(100, client.head().status());
        assertEquals("hello", client.send("hello").response().text());
        assertEquals(413, client.send("POST /refused" + rest).response().status());
    }

    @Test
    void earlyAnswerReachesAClientThatStillSends() throws Exception {
        proxy.start(
                request -> {
                    request.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno");
                    request.awaitClose();
                },
                ClientConnectionTest::unheld);
        RawClient client = proxy.client()
                .send("POST /a HTTP/1.1\r\nHost: test.example\r\nContent-Length: 100000\r\n\r\n")
                .send(new byte[50_000]);
        assertEquals("no", client.response().text());
        client.send(new byte[50_000]);
        assertEquals(
                403,
                client.send("POST /b HTTP/1.1\r\nHost: test.example\r\nContent-Length: 0\r\n\r\n")
                        .response()
                        .status());
    }

    /** A client that stops sending after an early response, which was sent while its content was held back. */
    @Test
    void clientThatStopsSendingAfterAnEarlyAnswerIsTimedOut() throws Exception {
        proxy.start(
                request -> {
                    request.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno");
                    request.awaitClose();
                },
                config -> unheld(config.set("timeouts.client_body", "500ms")));
        RawClient client =
                proxy.client().send("POST /a HTTP/1.1\r\nHost: test.example\r\nContent-Length: 100000\r\n\r\n");
        assertEquals("no", client.response().text());
        assertNull(client.in.readHead());
    }

    @Test
    void clientThatBreaksItsContentOffBreaksOffTheOriginsRequest() throws Exception {
        CountDownLatch ended = new CountDownLatch(1);
        proxy.start(
                request -> {
                    request.awaitClose();
                    ended.countDown();
                },
                ClientConnectionTest::unheld);
        RawClient client = proxy.client()
                .send("POST /a HTTP/1.1\r\nHost: test.example\r\nContent-Length: 100000\r\n\r\n")
                .send(new byte[50_000]);
        ProxyExtension.await("a request at the origin", () -> proxy.origin().requests() > 0);
        client.reset();
        ProxyExtension.await("the origin's request is broken off", () -> ended.getCount() == 0);
    }

    @Test
    void contentBeyondTheLimitIsRefused() throws Exception {
        proxy.start(request -> request.awaitClose(), config -> config.set("limits.request_body", "64KiB"));
        String head = "POST /a HTTP/1.1\r\nHost: test.example\r\n";
        assertEquals(
                413,
                proxy.client()
                        .send(head + "Content-Length: 65537\r\n\r\n")
                        .response()
                        .status());
        RawClient chunked = proxy.client().send(head + "Transfer-Encoding: chunked\r\n\r\n");
        chunked.send("10000\r\n").send(new byte[0x10000]).send("\r\n1\r\na\r\n");
        assertEquals(413, chunked.response().status());
    }

    @Test
    void silenceWithinContentIsAnsweredWith408() throws Exception {
        proxy.start(request -> request.awaitClose(), config -> config.set("timeouts.client_body", "300ms"));
        RawClient client =
                proxy.client().send("POST /a HTTP/1.1\r\nHost: test.example\r\nContent-Length: 5\r\n\r\nhel");
        assertEquals(408, client.response().status());
        assertNull(client.in.readHead());
    }

    // pipelining and persistence

    @Test
    void pipelinedRequestsAreAnsweredInTheirOrder() throws Exception {
        proxy.start(request -> {
            if (request.has("/broken")) {
                request.reset();
            } else {
                request.ok(
                        request.has("/hit") ? FRESH : "Cache-Control: no-store\r\n",
                        RawInput.latin1(
                                request.head().substring(4, request.head().indexOf(" HTTP"))));
            }
        });
        proxy.get("/hit");
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < 200; i++) {
            all.append("GET /hit HTTP/1.1\r\nHost: test.example\r\n\r\n");
            all.append("GET /miss").append(i).append(" HTTP/1.1\r\nHost: test.example\r\n\r\n");
            all.append("POST /broken HTTP/1.1\r\nHost: test.example\r\nContent-Length: 3\r\n\r\nabc");
            all.append("HEAD /hit HTTP/1.1\r\nHost: test.example\r\n\r\n");
        }
        RawClient client = proxy.client().send(all.toString());
        for (int i = 0; i < 200; i++) {
            assertEquals("/hit", client.response().text());
            assertEquals("/miss" + i, client.response().text());
            assertEquals(502, client.response().status());
            assertEquals("4", client.head().field("content-length"));
        }
    }

    /** More requests than may wait decoded: reading stops, and the connection stays open. */
    @Test
    void anyNumberOfPipelinedRequestsIsAnswered() throws Exception {
        proxy.start(request -> {
            if (request.number() == 1) {
                go.await();
            }
            request.ok(FRESH, RawInput.latin1("x"));
        });
        int count = 40_000;
        RawClient client = proxy.client().get("/first");
        byte[] all = RawInput.latin1("GET /a HTTP/1.1\r\nHost: t\r\n\r\n".repeat(count));
        CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> {
            try {
                client.send(all);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        ProxyExtension.await("a request at the origin", () -> proxy.origin().requests() > 0);
        go.countDown();
        for (int i = 0; i <= count; i++) {
            assertEquals("x", client.response().text());
        }
        sent.get(RawClient.WAIT_MILLIS, TimeUnit.MILLISECONDS);
    }

    @Test
    void connectionEndsAfterAResponseWithClose() throws Exception {
        proxy.start(request -> request.ok(FRESH, RawInput.latin1("content")));
        for (int i = 0; i < 2; i++) {
            // In one segment: bytes after the response to a request with Connection: close may meet a closed
            // connection.
            String another = "GET /a HTTP/1.1\r\nHost: test.example\r\n";
            RawClient client = proxy.client().send(another + "Connection: close\r\n\r\n" + another + "\r\n");
            RawClient.Response response = client.response();
            assertEquals("close", response.field("connection"));
            assertEquals("content", response.text());
            assertNull(client.in.readHead());
        }
    }

    @Test
    void oldClientGetsContentThatTheConnectionsEndDelimits() throws Exception {
        proxy.start(request ->
                request.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"));
        RawClient client =
                proxy.client().send("GET /a HTTP/1.0\r\nHost: test.example\r\nConnection: keep-alive\r\n\r\n");
        RawClient.Response response = client.response();
        assertEquals("close", response.field("connection"));
        assertEquals("hello", response.text());
    }

    @Test
    void unfinishedHeadIsAnsweredWith408AndSilenceWithTheEnd() throws Exception {
        proxy.start(request -> {}, config -> config.set("timeouts.client_header", "300ms"));
        RawClient begun = proxy.client().send("GET /a HTT");
        RawClient silent = proxy.client();
        assertEquals(408, begun.response().status());
        assertNull(begun.in.readHead());
        assertNull(silent.in.readHead());
    }

    @Test
    void drainWaitsForRequestsInProgress() throws Exception {
        proxy.start(request -> {
            request.send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n");
            request.send("half");
            go.await();
            request.send("half");
        });
        RawClient busy = proxy.client().get("/a");
        busy.head();
        RawClient fresh = proxy.client();
        ProxyExtension.await(
                "both are accepted",
                () -> proxy.proxy().loops().get(0).connections().size() == 2);
        CompletableFuture<Void> drained =
                proxy.proxy().drain(TimeUnit.SECONDS.toNanos(60)).toCompletableFuture();
        assertFalse(drained.isDone());
        go.countDown();
        assertEquals("halfhalf", new String(busy.in.read(8), java.nio.charset.StandardCharsets.ISO_8859_1));
        assertNull(busy.in.readHead());
        // The connection was accepted before, and its first request may be on its way, so it is served.
        RawClient.Response last = fresh.get("/b").response();
        assertEquals("close", last.field("connection"));
        assertNull(fresh.in.readHead());
        busy.close();
        fresh.close();
        drained.get(RawClient.WAIT_MILLIS, TimeUnit.MILLISECONDS);
    }

    @Test
    void connectionBeyondTheLimitIsClosed() throws Exception {
        proxy.start(request -> request.ok("", new byte[0]), config -> config.set("limits.connections", "1"));
        RawClient first = proxy.client();
        assertEquals(200, first.get("/a").response().status());
        RawClient second = proxy.client();
        assertThrows(IOException.class, () -> second.get("/a").response());
        ProxyConfig raised = proxy.proxy().config().toBuilder()
                .set("limits.connections", "2")
                .build();
        proxy.proxy().reload(raised);
        RawClient third = proxy.client();
        assertEquals(200, third.get("/a").response().status());
        third.close();
        first.close();
        ProxyExtension.await(
                "they are gone",
                () -> proxy.proxy().loops().get(0).connections().size() == 0);
        assertEquals(200, proxy.client().get("/a").response().status());
    }

    @Test
    void closeUnderLoadGivesEveryBufferBack() throws Exception {
        byte[] content = ProxyExtension.content(4 << 20);
        proxy.start(
                request -> request.ok(request.has("/s") ? FRESH : "Cache-Control: no-store\r\n", content),
                config -> config.storage(directory, 64 << 20).set("worker.event_loops", "2"));
        for (int i = 0; i < 8; i++) {
            proxy.slowClient().get("/s").head();
            proxy.slowClient().get("/n" + i).head();
        }
        proxy.proxy().close();
        assertEquals(0, proxy.usedBytes());
    }

    /**
     * A fault at any step ends only that exchange, with a response or the end of the connection, and no buffer is lost.
     */
    @Test
    void faultAtAnyStepEndsThatExchangeOnly() throws Exception {
        proxy.start(request -> request.ok("Cache-Control: max-age=10\r\nETag: \"e\"\r\n", new byte[100_000]));
        int broken = 0;
        for (int look = 1; look <= 8; look++) {
            for (String kind : new String[] {"miss", "hit", "stale"}) {
                String path = kind.equals("miss") ? "/" + look : "/a";
                proxy.get("/a");
                proxy.advanceSeconds(kind.equals("stale") ? 60 : 0);
                proxy.failClockAt(look);
                try {
                    broken += proxy.get(path).status() == 200 ? 0 : 1;
                } catch (IOException e) {
                    broken++;
                }
                proxy.failClockAt(0);
                assertEquals(100_000, proxy.get(path).content().length);
            }
        }
        assertTrue(broken > 5, "faults met: " + broken);
        ProxyExtension.await("no request is left", () -> proxy.counted(Counter.REQUESTS_ACTIVE) == 0);
    }
}
