package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.access.FilterConfig.Action;
import io.millrace.proxy.config.access.FilterKeys;
import io.millrace.proxy.config.access.ListenerConfig.ProxyProtocol;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.value.AddressSet;
import io.millrace.proxy.observe.Counter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests connections with a PROXY header that is required, optional or not permitted. */
class ProxyProtocolTest {
    private static final String HEADER = "PROXY TCP4 192.0.2.7 198.51.100.1 56324 80\r\n";
    private static final String GET = "GET /p HTTP/1.1\r\nHost: test.example\r\n\r\n";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    private void start(ProxyProtocol how, UnaryOperator<ProxyConfig.Builder> more) throws IOException {
        proxy.start(
                request -> request.ok(
                        "Cache-Control: max-age=3600\r\n",
                        RawInput.latin1("for " + RawClient.field(request.head(), "x-forwarded-for"))),
                config ->
                        more.apply(config.listen("127.0.0.1:0", how).set("access.proxy_protocol_allow", "127.0.0.1")));
    }

    private void start(ProxyProtocol how) throws IOException {
        start(how, config -> config);
    }

    private InetSocketAddress address() {
        return proxy.proxy().addresses().get(1);
    }

    private RawClient client() throws IOException {
        return proxy.keep(new RawClient(address()));
    }

    private static void refused(RawClient client) {
        IOException end = assertThrows(IOException.class, client::response);
        assertFalse(end instanceof SocketTimeoutException, "still open");
    }

    @Test
    void sourceOfTheHeaderIsTheClient() throws Exception {
        Path log = directory.resolve("access.log");
        start(ProxyProtocol.ACCEPT, config -> config.set("log.access.enabled", "true")
                .set("log.access.path", log.toString())
                .set("log.access.format", "%<chi> %<pssc>"));
        assertEquals("for 192.0.2.7", client().send(HEADER + GET).response().text());
        ProxyExtension.await("a line", () -> lines(log).length == 1);
        assertEquals("192.0.2.7 200", lines(log)[0]);
    }

    private static String[] lines(Path log) {
        try {
            return Files.exists(log)
                    ? Files.readString(log, StandardCharsets.ISO_8859_1).lines().toArray(String[]::new)
                    : new String[0];
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The header has been awaited since before the change. */
    @Test
    void aReloadHoldsForHeadersThatAreAwaited() throws Exception {
        start(ProxyProtocol.REQUIRE, config -> config.set("access.proxy_protocol_allow", "10.0.0.1"));
        RawClient believed = client();
        RawClient late = client();
        ProxyExtension.await("both", () -> proxy.counted(Counter.CLIENT_CONNECTIONS) == 2);
        reload(ProxyProtocol.REQUIRE, config -> config);
        assertEquals("for 192.0.2.7", believed.send(HEADER + GET).response().text());
        late.send("PROXY TCP4 ");
        reload(ProxyProtocol.REQUIRE, config -> config.set("timeouts.client_header", "10ms"));
        refused(late);
        assertEquals(1, proxy.counted(Counter.CLIENT_CONNECTIONS_REFUSED_PROXY_TIMEOUT));
    }

    private void reload(ProxyProtocol how, UnaryOperator<ProxyConfig.Builder> more) throws IOException {
        proxy.reload(config ->
                more.apply(config.listen("127.0.0.1:0", how).set("access.proxy_protocol_allow", "127.0.0.1")));
    }

    @Test
    void version2IsReadAsWell() throws Exception {
        start(ProxyProtocol.REQUIRE);
        byte[] header = {
            13,
            10,
            13,
            10,
            0,
            13,
            10,
            'Q',
            'U',
            'I',
            'T',
            10,
            0x21,
            0x11,
            0,
            12,
            (byte) 192,
            0,
            2,
            8,
            10,
            0,
            0,
            1,
            1,
            2,
            3,
            4
        };
        assertEquals("for 192.0.2.8", client().send(header).send(GET).response().text());
    }

    @Test
    void headerMayComeByteByByte() throws Exception {
        start(ProxyProtocol.ACCEPT);
        RawClient client = client();
        for (byte b : (HEADER + GET).getBytes(StandardCharsets.ISO_8859_1)) {
            client.send(new byte[] {b});
        }
        assertEquals("for 192.0.2.7", client.response().text());
    }

    @Test
    void unknownSourceLeavesTheConnectionsOwn() throws Exception {
        start(ProxyProtocol.REQUIRE);
        assertEquals(
                "for 127.0.0.1",
                client().send("PROXY UNKNOWN\r\n" + GET).response().text());
    }

    @Test
    void connectionWithoutAHeaderIsTheClientsOwn() throws Exception {
        start(ProxyProtocol.ACCEPT);
        assertEquals("for 127.0.0.1", client().send(GET).response().text());
        try (RawClient other = RawClient.from("127.0.0.2", address())) {
            assertEquals(
                    "for 127.0.0.2",
                    other.send(GET.replace("/p", "/q")).response().text());
        }
    }

    @Test
    void connectionWithoutAHeaderIsClosedWhereOneIsRequired() throws Exception {
        start(ProxyProtocol.REQUIRE);
        refused(client().send(GET));
        assertEquals(1, proxy.counted(Counter.CLIENT_CONNECTIONS_REFUSED_PROXY_MISSING));
        assertEquals(0, proxy.origin().requests());
    }

    @Test
    void headerOfAnotherThanTheTrustedClosesTheConnection() throws Exception {
        start(ProxyProtocol.ACCEPT);
        try (RawClient stranger = RawClient.from("127.0.0.2", address())) {
            refused(stranger.send(HEADER + GET));
        }
        assertEquals(1, proxy.counted(Counter.CLIENT_CONNECTIONS_REFUSED_PROXY_UNTRUSTED));
        assertEquals(0, proxy.origin().requests());
    }

    @Test
    void malformedHeaderClosesTheConnection() throws Exception {
        start(ProxyProtocol.ACCEPT);
        refused(client().send("PROXY TCP4 192.0.2.7 198.51.100.1 56324\r\n" + GET));
        assertEquals(1, proxy.counted(Counter.CLIENT_CONNECTIONS_REFUSED_PROXY_MALFORMED));
        assertEquals(0, proxy.origin().requests());
    }

    @Test
    void headerIsNoHeaderWhereNoneIsExpected() throws Exception {
        start(ProxyProtocol.ACCEPT);
        try (RawClient plain = proxy.client()) {
            assertEquals(400, plain.send(HEADER + GET).response().status());
        }
    }

    @Test
    void headerThatDoesNotComeInTimeClosesTheConnection() throws Exception {
        start(ProxyProtocol.ACCEPT, config -> config.set("timeouts.client_header", "300ms"));
        refused(client());
        refused(client().send("PROXY TCP4 192.0.2.7 "));
        assertEquals(2, proxy.counted(Counter.CLIENT_CONNECTIONS_REFUSED_PROXY_TIMEOUT));
    }

    @Test
    void filtersGoByTheSourceOfTheHeader() throws Exception {
        start(
                ProxyProtocol.ACCEPT,
                config -> config.accessFilter(ConfigValues.builder()
                        .set(FilterKeys.ACTION, Action.DENY)
                        .set(FilterKeys.SRC_IP, AddressSet.parse("192.0.2.7"))
                        .build()));
        RawClient refused = client();
        assertEquals(403, refused.send(HEADER + GET).response().status());
        assertEquals(403, refused.send(GET).response().status());
        assertEquals(
                200,
                client().send(HEADER.replace("192.0.2.7", "192.0.2.9") + GET)
                        .response()
                        .status());
    }

    /** The connection moves to the fast lane after its first response, together with the client's address. */
    @Test
    void clientStaysTheClientInBothLanes() throws Exception {
        start(ProxyProtocol.ACCEPT);
        RawClient client = client();
        client.send(HEADER + GET).response();
        for (int i = 0; i < 5; i++) {
            assertEquals("for 192.0.2.7", client.send(GET).response().text());
            assertEquals(
                    "for 192.0.2.7",
                    client.send(GET.replace("/p", "/other" + i)).response().text());
        }
        assertEquals(6, proxy.origin().requests());
        if (!getClass().isAnnotationPresent(InChannels.class)) {
            ProxyExtension.await("an answer in the fast lane", () -> {
                try {
                    client.send(GET).response();
                    return proxy.counted(Counter.FAST_LANE_ANSWERED) > 0;
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            assertTrue(proxy.counted(Counter.FAST_LANE_RETURNED) > 0);
        }
    }

    @Test
    void tlsBeginsBehindTheHeader() throws Exception {
        TestCertificate certificate = TestCertificate.in(directory);
        start(
                ProxyProtocol.REQUIRE,
                config -> config.listen(
                        "127.0.0.1:0", certificate.certificate(), certificate.key(), ProxyProtocol.REQUIRE));
        InetSocketAddress secure = proxy.proxy().addresses().get(2);
        RawClient client = proxy.keep(certificate.clientAfter(RawInput.latin1(HEADER), secure));
        for (int i = 0; i < 3; i++) {
            assertEquals("for 192.0.2.7", client.send(GET).response().text());
        }
        assertEquals(1, proxy.origin().requests());
    }

    @Test
    void trustedProxiesAreHeldAgainstTheClientOfTheHeader() throws Exception {
        start(ProxyProtocol.REQUIRE, config -> config.set("access.trusted_proxies", "192.0.2.7"));
        String told = GET.replace("\r\n\r\n", "\r\nX-Forwarded-For: 10.1.2.3\r\n\r\n");
        assertEquals(
                "for 10.1.2.3, 192.0.2.7",
                client().send(HEADER + told).response().text());
        assertEquals(
                "for 192.0.2.8",
                client().send(HEADER.replace("192.0.2.7", "192.0.2.8") + told.replace("/p", "/q"))
                        .response()
                        .text());
    }

    @Test
    void trustIsLive() throws Exception {
        start(ProxyProtocol.ACCEPT);
        proxy.reload(config ->
                config.listen("127.0.0.1:0", ProxyProtocol.ACCEPT).set("access.proxy_protocol_allow", "127.0.0.2"));
        refused(client().send(HEADER + GET));
        assertEquals(1, proxy.counted(Counter.CLIENT_CONNECTIONS_REFUSED_PROXY_UNTRUSTED));
    }

    /**
     * A connection accepted before may have its first request on its way. A silent one ends with the timeout for
     * headers.
     */
    @Test
    void drainServesConnectionsThatHaveNotBegun() throws Exception {
        start(ProxyProtocol.ACCEPT, config -> config.set("timeouts.client_header", "2s"));
        RawClient silent = client();
        RawClient late = client();
        client().send(HEADER + GET).response();
        ProxyExtension.await("all are accepted", () -> proxy.counted(Counter.CLIENT_CONNECTIONS) == 3);
        CompletableFuture<Void> drained =
                proxy.proxy().drain(TimeUnit.SECONDS.toNanos(20)).toCompletableFuture();
        // The event loop has received the drain.
        proxy.proxy().loops().get(0).loop().submit(() -> {}).syncUninterruptibly();
        assertEquals("close", late.send(HEADER + GET).response().field("connection"));
        drained.join();
        refused(silent);
        ProxyExtension.await("the count of none", () -> proxy.counted(Counter.CLIENT_CONNECTIONS) == 0);
    }

    /** The connection leaves the set of those that wait for a header, and joins those that wait for a request. */
    @Test
    void drainIsNotOverWhenTheLastConnectionsHeaderHasCome() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        proxy.start(
                request -> {
                    asked.countDown();
                    go.await();
                    request.ok("", RawInput.latin1("content"));
                },
                config -> config.listen("127.0.0.1:0", ProxyProtocol.ACCEPT)
                        .set("access.proxy_protocol_allow", "127.0.0.1"));
        RawClient last = client();
        ProxyExtension.await("it is accepted", () -> proxy.counted(Counter.CLIENT_CONNECTIONS) == 1);
        CompletableFuture<Void> drained =
                proxy.proxy().drain(TimeUnit.SECONDS.toNanos(60)).toCompletableFuture();
        // The event loop has received the drain.
        proxy.proxy().loops().get(0).loop().submit(() -> {}).syncUninterruptibly();
        last.send(HEADER + GET);
        asked.await();
        boolean early = drained.isDone();
        go.countDown();
        assertEquals("close", last.response().field("connection"));
        assertFalse(early, "its request was under way");
        last.close();
        drained.get(RawClient.WAIT_MILLIS, TimeUnit.MILLISECONDS);
    }
}
