package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.server.ServingLoop;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests clients that shut down their sending side before they have their responses. */
class HalfCloseTest {
    private static final String HOST = "Host: test.example\r\n";
    private static final String HIT = "GET /hit HTTP/1.1\r\n" + HOST + "\r\n";
    private static final String MISS = "GET /miss HTTP/1.1\r\n" + HOST + "\r\n";
    private static final byte[] LONG = ProxyExtension.content(2_000_000);

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    private final CountDownLatch go = new CountDownLatch(1);

    /** Answers paths other than /hit and /long when the test permits it, with the received content. */
    private void answer(RawOrigin.Exchange request) throws Exception {
        if (request.has(" /hit")) {
            request.ok("Cache-Control: max-age=600\r\n", RawInput.latin1("a hit"));
            return;
        }
        if (request.has(" /long")) {
            request.ok("Cache-Control: max-age=600\r\n", LONG);
            return;
        }
        byte[] content = new byte[0];
        if (request.has("POST")) {
            try {
                boolean chunked = request.has("chunked");
                content = chunked ? request.in().readChunked() : request.in().read(5);
            } catch (IOException | NumberFormatException e) {
                // The content is incomplete, so there is no response.
                return;
            }
        }
        assertTrue(go.await(RawClient.WAIT_MILLIS, TimeUnit.MILLISECONDS));
        String fields = request.has(" /shared") ? "Cache-Control: max-age=600\r\n" : "Cache-Control: no-store\r\n";
        request.ok(fields, RawInput.latin1("got <" + new String(content, StandardCharsets.ISO_8859_1) + ">"));
    }

    private void start() throws IOException {
        proxy.start(this::answer);
        proxy.getAndSettle("/hit");
        proxy.getAndSettle("/long");
    }

    /** Returns after the event loop has processed everything that the kernel had for it. */
    private void awaitTurns() {
        for (int i = 0; i < 3; i++) {
            for (ServingLoop loop : proxy.proxy().loops()) {
                loop.loop().submit(() -> {}).awaitUninterruptibly();
            }
        }
    }

    private void awaitRequests(int count) {
        ProxyExtension.await("request " + count, () -> proxy.origin().requests() == count);
        awaitTurns();
    }

    private static String statuses(String wire) {
        StringBuilder statuses = new StringBuilder();
        for (int at = wire.indexOf("HTTP/1.1 "); at >= 0; at = wire.indexOf("HTTP/1.1 ", at + 1)) {
            statuses.append(statuses.isEmpty() ? "" : " ").append(wire, at + 9, at + 12);
        }
        return statuses.toString();
    }

    private static Map<String, String[]> cases() {
        String post = "POST /post HTTP/1.1\r\n" + HOST;
        Map<String, String[]> cases = new LinkedHashMap<>();
        cases.put("hit", new String[] {HIT, "200"});
        cases.put(
                "hit that ends the connection",
                new String[] {HIT.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"), "200"});
        cases.put("hit of an old client", new String[] {HIT.replace("HTTP/1.1", "HTTP/1.0"), "200"});
        cases.put("miss", new String[] {MISS, "200"});
        cases.put("pipelined hits", new String[] {HIT.repeat(3), "200 200 200"});
        cases.put("pipelined hits and misses", new String[] {HIT + MISS + HIT + MISS + MISS, "200 200 200 200 200"});
        cases.put("content", new String[] {post + "Content-Length: 5\r\n\r\nhello" + HIT, "200 200"});
        cases.put("not mapped method", new String[] {"TRACE / HTTP/1.1\r\n" + HOST + "\r\n" + HIT, "405 200"});
        cases.put("offer that is refused", new String[] {
            "GET /miss HTTP/1.1\r\n" + HOST + "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n" + HIT + MISS,
            "200 200 200"
        });
        cases.put("content that is not whole", new String[] {post + "Content-Length: 5\r\n\r\nhell", "400"});
        cases.put("no content at all", new String[] {post + "Content-Length: 5\r\n\r\n", "400"});
        cases.put("chunk that is not whole", new String[] {post + "Transfer-Encoding: chunked\r\n\r\n5\r\nhel", "400"});
        cases.put(
                "chunks without a last one",
                new String[] {post + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", "400"});
        cases.put("head that is not whole", new String[] {"GET /hit HTTP/1.1\r\nHost: te", ""});
        cases.put("hit and half a head", new String[] {HIT + "GET /hit HT", "200"});
        cases.put("miss and half a head", new String[] {MISS + "GET /hit HT", "200"});
        cases.put("nothing", new String[] {"", ""});
        cases.put("malformed", new String[] {"GET  / HTTP/1.1\r\n\r\n", "400"});
        return cases;
    }

    /** The end arrives with the request, and in another case after the request was read. */
    @TestFactory
    Stream<DynamicTest> whatCameWholeIsAnsweredAndNothingElse() throws Exception {
        start();
        go.countDown();
        return cases().entrySet().stream().flatMap(each -> Stream.of(false, true)
                .map(late -> DynamicTest.dynamicTest(each.getKey() + (late ? ", end later" : ""), () -> {
                    try (RawClient client = new RawClient(proxy.address())) {
                        client.send(each.getValue()[0]);
                        if (late) {
                            awaitTurns();
                        }
                        client.socket.shutdownOutput();
                        String wire = new String(client.in.readToEnd(), StandardCharsets.ISO_8859_1);
                        assertEquals(each.getValue()[1], statuses(wire), wire);
                    }
                    ProxyExtension.await("the end", () -> proxy.counted(Counter.CLIENT_CONNECTIONS) == 0);
                })));
    }

    /**
     * The decoder processes its buffered bytes in a separate task. The end often arrives between the response and that
     * task.
     */
    @Test
    void requestsBehindARefusedOfferAreAnsweredIndependentlyOfTheEnd() throws Exception {
        start();
        go.countDown();
        String offer = MISS.replace("\r\n\r\n", "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
        for (int i = 0; i < 200; i++) {
            RawClient client = proxy.client().send(offer + HIT + HIT);
            assertEquals(200, client.head().status());
            client.socket.shutdownOutput();
            String wire = new String(client.in.readToEnd(), StandardCharsets.ISO_8859_1);
            assertEquals("200 200", statuses(wire), "round " + i + ": " + wire);
            client.close();
        }
    }

    @Test
    void missIsAnsweredAlthoughTheEndWasSeenBefore() throws Exception {
        start();
        RawClient client = proxy.client().send(MISS);
        client.socket.shutdownOutput();
        awaitRequests(3);
        go.countDown();
        RawClient.Response response = client.response();
        assertEquals("got <>", response.text());
        assertEquals("close", response.field("connection"));
        assertEquals(0, client.in.readToEnd().length);
        assertEquals(0, proxy.counted(Counter.CLIENT_FAILURES_ABORTED));
    }

    @Test
    void contentThatIsNotWholeIsNotAnsweredAsIfItWere() throws Exception {
        proxy.start(this::answer, config -> config.set("origin.request_buffer", "0"));
        proxy.getAndSettle("/hit");
        proxy.getAndSettle("/long");
        RawClient client = proxy.client().send("POST /post HTTP/1.1\r\n" + HOST + "Content-Length: 5\r\n\r\nhell");
        awaitRequests(3);
        client.socket.shutdownOutput();
        RawClient.Response response = client.response();
        assertEquals(400, response.status());
        assertTrue(response.text().contains("before the request content was complete"), response.text());
        proxy.settle();
        assertEquals(1, proxy.counted(Counter.CLIENT_FAILURES_ABORTED));
    }

    @Test
    void contentThatIsNotWholeIsNotSentWhereItIsHeldUntilItIs() throws Exception {
        start();
        RawClient client = proxy.client().send("POST /post HTTP/1.1\r\n" + HOST + "Content-Length: 5\r\n\r\nhell");
        client.socket.shutdownOutput();
        assertEquals(400, client.response().status());
        proxy.settle();
        assertEquals(2, proxy.origin().requests());
    }

    @Test
    void longHitIsReadToItsEndByAClientThatTakesLittle() throws Exception {
        start();
        RawClient client = proxy.slowClient().send("GET /long HTTP/1.1\r\n" + HOST + "\r\n");
        client.socket.shutdownOutput();
        awaitTurns();
        assertArrayEquals(LONG, client.response().content());
        assertEquals(0, client.in.readToEnd().length);
    }

    @Test
    void followerOfASharedFetchIsAnswered() throws Exception {
        start();
        String shared = "GET /shared HTTP/1.1\r\n" + HOST + "\r\n";
        RawClient leader = proxy.client().send(shared);
        awaitRequests(3);
        RawClient follower = proxy.client().send(shared);
        follower.socket.shutdownOutput();
        leader.socket.shutdownOutput();
        awaitTurns();
        go.countDown();
        assertEquals("got <>", leader.response().text());
        assertEquals("got <>", follower.response().text());
        assertEquals(3, proxy.origin().requests());
    }

    @Test
    void responseOnDiskIsAnswered() throws Exception {
        go.countDown();
        proxy.start(this::answer, this::onDisk);
        proxy.getAndSettle("/long");
        proxy.restart();
        RawClient client = proxy.client().send("GET /long HTTP/1.1\r\n" + HOST + "\r\n");
        client.socket.shutdownOutput();
        assertArrayEquals(LONG, client.response().content());
        assertEquals(0, client.in.readToEnd().length);
        assertEquals(1, proxy.origin().requests());
    }

    private ProxyConfig.Builder onDisk(ProxyConfig.Builder config) {
        return config.storage(directory.resolve("cache"), 64 * 1024 * 1024);
    }

    @Test
    void resetAfterTheEndAbandonsTheFetch() throws Exception {
        CountDownLatch closed = new CountDownLatch(1);
        proxy.start(request -> {
            request.awaitClose();
            closed.countDown();
        });
        RawClient client = proxy.client().send(MISS);
        client.socket.shutdownOutput();
        awaitRequests(1);
        client.reset();
        assertTrue(closed.await(RawClient.WAIT_MILLIS, TimeUnit.MILLISECONDS), "still fetching");
        ProxyExtension.await("the abort", () -> proxy.counted(Counter.CLIENT_FAILURES_ABORTED) == 1);
    }

    @Test
    void closedClientIsDetectedByTheFirstWrite() throws Exception {
        proxy.start(request -> {
            request.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\nCache-Control: no-store\r\n\r\n");
            byte[] some = new byte[100_000];
            try {
                while (true) {
                    request.send(some);
                }
            } catch (IOException e) {
                // The proxy stops reading, which the test waits for.
            }
        });
        RawClient client = proxy.client().send(MISS);
        awaitRequests(1);
        client.close();
        ProxyExtension.await("the abort", () -> proxy.counted(Counter.CLIENT_FAILURES_ABORTED) == 1);
        proxy.settle();
    }

    private RawClient connect(String early) throws IOException {
        String origin = proxy.origin().url().substring("http://".length());
        return proxy.client().send("CONNECT " + origin + " HTTP/1.1\r\nHost: " + origin + "\r\n\r\n" + early);
    }

    @Test
    void endBeforeATunnelStandsIsHandedOnBehindTheBytesBefore() throws Exception {
        proxy.start(
                request -> {
                    String rest = new String(request.in().readToEnd(), StandardCharsets.ISO_8859_1);
                    request.send(request.head().substring(0, 5) + rest + " heard");
                    request.socket().close();
                },
                config -> config.set("forward_proxy.enabled", "true")
                        .set("forward_proxy.allow", "127.0.0.1")
                        .set("forward_proxy.connect_ports", proxy.origin().url().replaceFirst(".*:", ""))
                        .set("forward_proxy.allow_destinations", "127.0.0.1"));
        RawClient client = connect("HELLO\r\n\r\nthe rest");
        client.socket.shutdownOutput();
        assertEquals(200, client.head().status());
        assertEquals("HELLOthe rest heard", new String(client.in.readToEnd(), StandardCharsets.ISO_8859_1));
    }

    /** TLS over a TCP connection whose client shuts down TCP without a close_notify. */
    @TestFactory
    Stream<DynamicTest> tcpEndUnderTlsIsNoEndOfTheAnswer() throws Exception {
        TestCertificate certificate = TestCertificate.in(directory);
        proxy.start(this::answer, config -> config.listen("127.0.0.1:0", certificate.certificate(), certificate.key()));
        go.countDown();
        return Stream.of(HIT, MISS, HIT + MISS + HIT)
                .map(wire -> DynamicTest.dynamicTest(wire, () -> {
                    var address = proxy.proxy().addresses().get(1);
                    try (Socket plain = new Socket(address.getAddress(), address.getPort());
                            RawClient client = new RawClient(certificate
                                    .trust()
                                    .getSocketFactory()
                                    .createSocket(plain, "test.example", address.getPort(), true))) {
                        client.send(wire);
                        plain.shutdownOutput();
                        for (int i = 0; i < wire.split("GET", -1).length - 1; i++) {
                            assertEquals(200, client.response().status());
                        }
                        assertEquals(0, client.in.readToEnd().length);
                    }
                }));
    }
}
