package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.millrace.proxy.observe.Counter;
import java.io.IOException;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests one fetch and its followers: clients that disconnect, failures, and the stored result. */
class SharedFetchTest {
    private static final String FRESH = "Cache-Control: max-age=600\r\n";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private final CountDownLatch go = new CountDownLatch(1);

    private void awaitWaiters(int count) {
        proxy.awaitFollowers(count);
    }

    private void awaitRequestAtOrigin() {
        ProxyExtension.await("a request at the origin", () -> proxy.origin().requests() > 0);
    }

    private void awaitClientGone() {
        ProxyExtension.await("the client's end is noticed", () -> proxy.counted(Counter.CLIENT_FAILURES_ABORTED) == 1);
    }

    @Test
    void waitersOnTwoLoopsShareOneFetch() throws Exception {
        byte[] content = ProxyExtension.content(300_000);
        proxy.start(
                request -> {
                    go.await();
                    request.ok(FRESH, content);
                },
                config -> config.set("worker.event_loops", "2"));
        List<RawClient> clients = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            clients.add(proxy.client().get("/a"));
        }
        awaitWaiters(11);
        go.countDown();
        for (RawClient client : clients) {
            assertArrayEquals(content, client.response().content());
        }
        assertEquals(1, proxy.origin().requests());
    }

    /**
     * RFC 8297: Early Hints reach every waiting client on both event loops, without the fields for the first client.
     */
    @Test
    void earlyHintsReachEveryWaiter_rfc8297() throws Exception {
        CountDownLatch hint = new CountDownLatch(1);
        proxy.start(
                request -> {
                    hint.await();
                    request.send("HTTP/1.1 103 Early Hints\r\nLink: </s.css>; rel=preload\r\nX-User: 1\r\n\r\n");
                    go.await();
                    request.ok(FRESH, new byte[] {'x'});
                },
                config -> config.set("worker.event_loops", "2"));
        List<RawClient> clients = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            clients.add(proxy.client().get("/a"));
        }
        awaitWaiters(5);
        hint.countDown();
        int leaders = 0;
        for (RawClient client : clients) {
            RawClient.Response hints = client.head();
            assertEquals(103, hints.status());
            assertEquals("</s.css>; rel=preload", hints.field("link"));
            leaders += hints.field("x-user") == null ? 0 : 1;
        }
        assertEquals(1, leaders);
        // A client that arrives now receives the same hints.
        RawClient late = proxy.client().get("/a");
        assertEquals("</s.css>; rel=preload", late.head().field("link"));
        clients.add(late);
        go.countDown();
        for (RawClient client : clients) {
            assertEquals("x", client.response().text());
        }
        assertEquals(1, proxy.origin().requests());
    }

    @Test
    void leaderThatLeavesLeavesTheFetchToItsWaiters() throws Exception {
        byte[] content = ProxyExtension.content(100_000);
        proxy.start(request -> {
            go.await();
            request.ok(FRESH, content);
        });
        RawClient leader = proxy.client().get("/a");
        awaitRequestAtOrigin();
        RawClient waiter = proxy.client().get("/a");
        awaitWaiters(1);
        leader.reset();
        awaitClientGone();
        go.countDown();
        assertArrayEquals(content, waiter.response().content());
        assertEquals(1, proxy.origin().requests());
    }

    /**
     * RFC 9111 s3: a private response is for the user whose request it answers, also after that user has disconnected.
     */
    @Test
    void responseForALeaderThatLeftIsNotGivenToAWaiter_rfc9111_s3() throws Exception {
        proxy.start(request -> {
            boolean leaders = request.has("X-User: leader");
            if (leaders) {
                go.await();
            }
            request.ok("Cache-Control: private, max-age=600\r\n", RawInput.latin1(leaders ? "leader's" : "waiter's"));
        });
        RawClient leader = proxy.client().get("/a", "X-User: leader\r\n");
        awaitRequestAtOrigin();
        RawClient waiter = proxy.client().get("/a", "X-User: waiter\r\n");
        awaitWaiters(1);
        leader.reset();
        awaitClientGone();
        go.countDown();
        assertEquals("waiter's", waiter.response().text());
    }

    /** RFC 9111 s4.1: the same for a response that varies. */
    @Test
    void variantForALeaderThatLeftIsNotGivenToAWaiterOfAnother_rfc9111_s4_1() throws Exception {
        proxy.start(
                request -> {
                    boolean german = request.has("Accept-Language: de");
                    if (german) {
                        go.await();
                    }
                    request.ok(FRESH + "Vary: Accept-Language\r\n", RawInput.latin1(german ? "deutsch" : "english"));
                },
                config -> config.set("worker.event_loops", "2"));
        RawClient leader = proxy.client().get("/a", "Accept-Language: de\r\n");
        awaitRequestAtOrigin();
        List<RawClient> waiters = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            waiters.add(proxy.client().get("/a", "Accept-Language: en\r\n"));
        }
        awaitWaiters(8);
        leader.reset();
        awaitClientGone();
        go.countDown();
        for (RawClient waiter : waiters) {
            assertEquals("english", waiter.response().text());
        }
    }

    @Test
    void otherInterimResponsesGoToTheLeaderOnly() throws Exception {
        proxy.start(
                request -> {
                    go.await();
                    request.send("HTTP/1.1 102 Processing\r\nLink: </style.css>\r\n\r\n");
                    request.ok(FRESH, RawInput.latin1("content"));
                },
                config -> config.set("worker.event_loops", "2"));
        RawClient leader = proxy.client().get("/a");
        awaitRequestAtOrigin();
        List<RawClient> waiters = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            waiters.add(proxy.client().get("/a"));
        }
        awaitWaiters(6);
        leader.reset();
        awaitClientGone();
        go.countDown();
        for (RawClient waiter : waiters) {
            assertEquals(200, waiter.response().status());
        }
    }

    @Test
    void onlyClientLeavingBeforeTheHeadCancelsTheFetch() throws Exception {
        CountDownLatch cancelled = new CountDownLatch(1);
        proxy.start(request -> {
            request.awaitClose();
            cancelled.countDown();
        });
        RawClient client = proxy.client().get("/a");
        awaitRequestAtOrigin();
        client.reset();
        ProxyExtension.await("the fetch is cancelled", () -> cancelled.getCount() == 0);
    }

    @Test
    void storedFillContinuesWhenItsOnlyReaderLeaves() throws Exception {
        byte[] content = ProxyExtension.content(200_000);
        proxy.start(request -> {
            request.send("HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n" + FRESH + "\r\n");
            request.send(Arrays.copyOf(content, 100_000));
            go.await();
            request.send(Arrays.copyOfRange(content, 100_000, 200_000));
        });
        RawClient client = proxy.client().get("/a");
        client.head();
        client.in.read(100_000);
        client.reset();
        awaitClientGone();
        go.countDown();
        ProxyExtension.await("the fill is stored", () -> proxy.counted(Counter.FILLS_STORED) == 1);
        assertArrayEquals(content, proxy.get("/a").content());
        assertEquals(1, proxy.origin().requests());
    }

    @Test
    void onlyReaderLeavingAFillThatIsNotStoredCancelsIt() throws Exception {
        CountDownLatch cancelled = new CountDownLatch(1);
        proxy.start(request -> {
            request.send("HTTP/1.1 200 OK\r\nContent-Length: 200000\r\nCache-Control: no-store\r\n\r\n");
            request.send(new byte[1000]);
            request.awaitClose();
            cancelled.countDown();
        });
        RawClient client = proxy.client().get("/a");
        client.head();
        client.in.read(1000);
        client.reset();
        ProxyExtension.await("the fetch is cancelled", () -> cancelled.getCount() == 0);
    }

    @Test
    void waiterFetchesAloneWhenTheCollapseWaitIsOver() throws Exception {
        proxy.start(
                request -> {
                    if (request.number() == 1) {
                        go.await();
                    }
                    request.ok(FRESH, RawInput.latin1("answer " + request.number()));
                },
                config -> config.set("cache.collapse_wait", "50ms"));
        RawClient leader = proxy.client().get("/a");
        awaitRequestAtOrigin();
        assertEquals("answer 2", proxy.get("/a").text());
        assertEquals(1, proxy.counted(Counter.COLLAPSED_TIMEOUT));
        go.countDown();
        assertEquals("answer 1", leader.response().text());
    }

    @Test
    void originFailingBeforeTheHeadFailsEveryWaiter() throws Exception {
        proxy.start(
                request -> {
                    if (request.number() == 1) {
                        go.await();
                        request.reset();
                    } else {
                        request.ok(FRESH, RawInput.latin1("well again"));
                    }
                },
                // On one event loop, so that a request counted as waiting has joined the fetch.
                config -> config.set("worker.event_loops", "1"));
        List<RawClient> clients = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            clients.add(proxy.client().get("/a"));
        }
        awaitWaiters(5);
        go.countDown();
        for (RawClient client : clients) {
            assertEquals(502, client.response().status());
        }
        assertEquals("well again", proxy.get("/a").text());
    }

    @Test
    void originSilentBeforeTheHeadGives504() throws Exception {
        proxy.start(request -> request.awaitClose(), config -> config.set("timeouts.origin_first_byte", "1s"));
        assertEquals(504, proxy.get("/a").status());
    }

    /** RFC 9112 s8: an incomplete response must not look complete. */
    @Test
    void originBreakingOffBreaksEverybodyOffAndNothingIsStored_rfc9112_s8() throws Exception {
        proxy.start(
                request -> {
                    if (request.number() == 1) {
                        go.await();
                        request.send(
                                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" + FRESH + "\r\n5\r\nhello\r\n");
                    } else {
                        request.ok(FRESH, RawInput.latin1("hello, world"));
                    }
                    if (request.number() == 1) {
                        request.socket().close();
                    }
                },
                config -> config.set("worker.event_loops", "2"));
        List<RawClient> clients = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            clients.add(proxy.client().get("/a"));
        }
        awaitWaiters(5);
        go.countDown();
        for (RawClient client : clients) {
            assertThrows(IOException.class, client::response);
        }
        assertEquals("hello, world", proxy.get("/a").text());
    }

    /** RFC 9112 s8: if only the connection's end delimits, a reset marks a truncated response. */
    @Test
    void oldClientIsResetWhenTheContentBreaksOff_rfc9112_s8() throws Exception {
        proxy.start(request -> {
            request.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
            go.await();
            request.socket().close();
        });
        RawClient client = proxy.client().send("GET /a HTTP/1.0\r\nHost: test.example\r\n\r\n");
        client.head();
        assertEquals("hello", new String(client.in.read(5), StandardCharsets.ISO_8859_1));
        go.countDown();
        assertThrows(SocketException.class, client.in::readToEnd);
    }

    @Test
    void purgeDuringAFillKeepsItFromTheStore() throws Exception {
        proxy.start(request -> {
            byte[] content = RawInput.latin1("version " + request.number());
            request.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n" + FRESH + "\r\nversion ");
            if (request.number() == 1) {
                go.await();
            }
            request.send(new byte[] {content[8]});
        });
        RawClient first = proxy.client().get("/a");
        first.head();
        proxy.purge("/a");
        assertEquals("version 2", proxy.get("/a").text());
        go.countDown();
        assertEquals("version 1", new String(first.in.read(9), StandardCharsets.ISO_8859_1));
        assertEquals("version 2", proxy.get("/a").text());
        assertEquals(2, proxy.origin().requests());
    }

    @Test
    void purgeBeforeTheHeadKeepsTheFillFromTheStore() throws Exception {
        proxy.start(request -> {
            if (request.number() == 1) {
                go.await();
            }
            request.ok(FRESH, RawInput.latin1("version " + request.number()));
        });
        RawClient first = proxy.client().get("/a");
        awaitRequestAtOrigin();
        proxy.purge("/a");
        go.countDown();
        assertEquals("version 1", first.response().text());
        assertEquals("version 2", proxy.get("/a").text());
    }

    @Test
    void rangesJoinAFill() throws Exception {
        byte[] content = ProxyExtension.content(200_000);
        proxy.start(
                request -> {
                    request.send("HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n" + FRESH + "\r\n");
                    request.send(Arrays.copyOf(content, 150_000));
                    go.await();
                    request.send(Arrays.copyOfRange(content, 150_000, 200_000));
                },
                config -> config.set("worker.event_loops", "2"));
        RawClient whole = proxy.client().get("/a");
        whole.head();
        whole.in.read(150_000);
        for (int i = 0; i < 4; i++) {
            RawClient.Response part = proxy.get("/a", "Range: bytes=1000-100999\r\n");
            assertEquals(206, part.status());
            assertArrayEquals(Arrays.copyOfRange(content, 1000, 101_000), part.content());
        }
        RawClient tail = proxy.client().get("/a", "Range: bytes=199900-\r\n");
        assertEquals(206, tail.head().status());
        go.countDown();
        assertArrayEquals(Arrays.copyOfRange(content, 199_900, 200_000), tail.in.read(100));
        assertArrayEquals(Arrays.copyOfRange(content, 150_000, 200_000), whole.in.read(50_000));
        assertEquals(1, proxy.origin().requests());
    }

    @Test
    void headRequestsGetTheLengthAndNoContent() throws Exception {
        proxy.start(request -> {
            if (request.has("HEAD ")) {
                request.send("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n" + FRESH + "\r\n");
            } else if (request.has("/missing")) {
                request.reset();
            } else {
                request.ok(FRESH, RawInput.latin1("content"));
            }
        });
        RawClient client = proxy.client();
        String head = "HEAD /a HTTP/1.1\r\nHost: test.example\r\n\r\n";
        assertEquals("7", client.send(head).head().field("content-length"));
        assertEquals("content", client.get("/a").response().text());
        RawClient.Response hit = client.send(head).head();
        assertEquals("7", hit.field("content-length"));
        assertNotNull(hit.field("age"));
        // RFC 9110 s14.2: Range is for GET only.
        RawClient.Response ranged = client.send("HEAD /a HTTP/1.1\r\nHost: test.example\r\nRange: bytes=0-1\r\n\r\n")
                .head();
        assertEquals(200, ranged.status());
        assertEquals(
                405,
                client.send("TRACE /a HTTP/1.1\r\nHost: test.example\r\n\r\n")
                        .response()
                        .status());
        assertEquals("content", client.get("/a").response().text());
    }
}
