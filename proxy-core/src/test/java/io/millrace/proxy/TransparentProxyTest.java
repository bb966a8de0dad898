package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.access.ListenerConfig.Transparency;
import io.millrace.proxy.config.access.TransparentKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.net.TransparentSockets;
import io.millrace.proxy.observe.Counter;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Tests transparent proxies on loopback addresses, without diverted connections. Skipped if this process may not set
 * IP_TRANSPARENT. The whole-system test uses network namespaces.
 */
class TransparentProxyTest {
    private static final int TRANSPARENT = 1;

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension().withoutRules();

    private final CompletableFuture<Void> released = new CompletableFuture<>();

    @BeforeEach
    void needsTheCapability() {
        String refusal = "";
        try {
            TransparentSockets.apply("any", Transparency.OUT, List.of());
        } catch (IOException e) {
            refusal = e.getMessage();
        }
        assumeTrue(refusal.isEmpty(), refusal);
    }

    private void start(
            Transparency mode, RawOrigin.Script script, java.util.function.UnaryOperator<ProxyConfig.Builder> more)
            throws IOException {
        proxy.start(
                script,
                config -> more.apply(config.listen(
                        "127.0.0.1:0",
                        ConfigValues.builder().set(TransparentKeys.LISTEN, mode).build())));
    }

    private ProxyConfig.Builder mapped(ProxyConfig.Builder config) {
        return config.map("/", proxy.origin().url());
    }

    private static ProxyConfig.Builder forwarding(ProxyConfig.Builder config) {
        return config.set("forward_proxy.enabled", "true")
                .set("forward_proxy.allow", "127.0.0.1")
                .set("forward_proxy.allow_destinations", "127.0.0.1");
    }

    private RawClient from(String address) throws IOException {
        return proxy.keep(RawClient.from(address, proxy.proxy().addresses().get(TRANSPARENT)));
    }

    private String originHost() {
        return proxy.origin().url().substring("http://".length());
    }

    /** Answers with the address of the peer and the Connection field; not to be stored. */
    private void tellPeer(RawOrigin.Exchange request) throws IOException {
        if (request.head().startsWith("GET /slow")) {
            released.orTimeout(RawClient.WAIT_MILLIS, TimeUnit.MILLISECONDS).join();
        }
        InetSocketAddress peer = (InetSocketAddress) request.socket().getRemoteSocketAddress();
        request.ok(
                "Cache-Control: no-store\r\nX-Port: " + peer.getPort() + "\r\n",
                RawInput.latin1(
                        peer.getAddress().getHostAddress() + " " + RawClient.field(request.head(), "connection")));
    }

    private static RawClient.Response get(RawClient client, String path) throws IOException {
        return client.send("GET " + path + " HTTP/1.1\r\nHost: h.example\r\n\r\n")
                .response();
    }

    @Test
    void everyRequestHasAConnectionFromTheAddressOfItsClient() throws Exception {
        start(Transparency.OUT, this::tellPeer, this::mapped);
        Set<String> ports = new HashSet<>();
        int requests = 0;
        for (String address : List.of("127.0.0.2", "127.0.0.3", "127.0.0.2")) {
            RawClient client = from(address);
            for (int i = 0; i < 2; i++) {
                RawClient.Response response = get(client, "/a");
                assertEquals(address + " close", response.text());
                ports.add(response.field("x-port"));
                requests++;
            }
        }
        assertEquals(requests, ports.size(), () -> "connections: " + ports);
    }

    /** The other listening address of the same proxy reuses a connection, which no client's address has. */
    @Test
    void otherListeningAddressesAreNotTransparent() throws Exception {
        start(Transparency.OUT, this::tellPeer, this::mapped);
        RawClient other = proxy.keep(RawClient.from("127.0.0.2", proxy.address()));
        String port = get(other, "/a").field("x-port");
        RawClient.Response transparent = get(from("127.0.0.2"), "/a");
        assertNotEquals(port, transparent.field("x-port"));
        RawClient.Response again = get(other, "/a");
        assertEquals("127.0.0.1 null", again.text());
        assertEquals(port, again.field("x-port"));
    }

    /** With one permitted connection, the second client waits for the first one's, and must not get it. */
    @Test
    void clientsShareTheLimitOfConnections_andNotTheConnections() throws Exception {
        start(Transparency.BOTH, this::tellPeer, config -> mapped(config).set("origin.connections_max", "1"));
        RawClient first = from("127.0.0.2");
        first.send("GET /slow HTTP/1.1\r\nHost: h.example\r\n\r\n");
        ProxyExtension.await("the first request", () -> proxy.origin().requests() == 1);
        RawClient second = from("127.0.0.3");
        second.send("GET /second HTTP/1.1\r\nHost: h.example\r\n\r\n");
        ProxyExtension.await("the second waits", () -> waiting() == 1);
        released.complete(null);
        assertEquals("127.0.0.2 close", first.response().text());
        assertEquals("127.0.0.3 close", second.response().text());
    }

    private long waiting() {
        return proxy.proxy()
                .loops()
                .get(0)
                .loop()
                .submit(() ->
                        proxy.proxy().loops().get(0).origins().statistics().callsWaiting())
                .awaitUninterruptibly()
                .getNow();
    }

    @Test
    void originWithoutAnAddressOfTheClientsFamilyIsNotContacted() throws Exception {
        start(Transparency.OUT, this::tellPeer, config -> config.map("/", "http://[::1]:9/"));
        RawClient.Response response = get(from("127.0.0.2"), "/a");
        assertEquals(502, response.status());
    }

    @Test
    void tunnelsComeFromTheAddressOfTheirClient() throws Exception {
        start(Transparency.OUT, this::tellPeer, config -> forwarding(config)
                .set("forward_proxy.allow", "127.0.0.2")
                .set("forward_proxy.connect_ports", originHost().replaceFirst(".*:", "")));
        RawClient client = from("127.0.0.2");
        client.send("CONNECT " + originHost() + " HTTP/1.1\r\nHost: " + originHost() + "\r\n\r\n");
        assertTrue(client.in.readHead().startsWith("HTTP/1.1 200 "));
        assertEquals("127.0.0.2 null", get(client, "/a").text());
    }

    /** A client of a diverted connection does not know of the proxy, so its requests are in origin-form. */
    @Test
    void divertedRequestsInOriginFormAreForwarded_andStoredUnderTheirUrl() throws Exception {
        start(
                Transparency.IN,
                request -> request.ok("Cache-Control: max-age=60\r\n", RawInput.latin1("x")),
                TransparentProxyTest::forwarding);
        String request = "GET /a HTTP/1.1\r\nHost: " + originHost() + "\r\n\r\n";
        RawClient diverted = from("127.0.0.1");
        List<String> status = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            status.add(diverted.send(request).response().field("cache-status"));
        }
        status.add(from("127.0.0.1").send(request).response().field("cache-status"));
        assertTrue(status.get(0).contains("fwd=uri-miss; fwd-status=200; stored"), status::toString);
        assertTrue(status.subList(1, 4).stream().allMatch(each -> each.contains("; hit")), status::toString);
        RawClient explicit = proxy.client();
        assertTrue(explicit.send("GET http://" + originHost() + "/a HTTP/1.1\r\nHost: x\r\n\r\n")
                .response()
                .field("cache-status")
                .contains("; hit"));
        assertEquals(404, explicit.send(request).response().status());
        assertEquals(1, proxy.origin().requests());
    }

    @Test
    void divertedRequestsPassTheChecksOfTheForwardProxy() throws Exception {
        start(Transparency.IN, this::tellPeer, config -> forwarding(config)
                .map("http://mapped.example/", proxy.origin().url()));
        String request = "GET /a HTTP/1.1\r\nHost: " + originHost() + "\r\n\r\n";
        assertEquals(403, from("127.0.0.2").send(request).response().status());
        assertEquals(1, proxy.counted(Counter.DENIED_FORWARD_CLIENT));
        assertEquals(
                403,
                from("127.0.0.1")
                        .send("GET /a HTTP/1.1\r\nHost: 127.0.0.3:80\r\n\r\n")
                        .response()
                        .status());
        assertEquals(1, proxy.counted(Counter.DENIED_FORWARD_DESTINATION));
        assertEquals(0, proxy.origin().requests());
        String mapped = "GET /a HTTP/1.1\r\nHost: mapped.example\r\n\r\n";
        assertEquals(200, from("127.0.0.2").send(mapped).response().status());
        proxy.reload(
                config -> config.map("http://mapped.example/", proxy.origin().url()));
        assertEquals(404, from("127.0.0.1").send(request).response().status());
    }

    @Test
    void listeningSocketsHaveTheOptionOnlyWithIn() throws SocketException, IOException {
        start(Transparency.OUT, this::tellPeer, this::mapped);
        assertEquals(200, get(from("127.0.0.2"), "/a").status());
        io.netty.channel.unix.Socket socket = io.netty.channel.unix.Socket.newSocketStream();
        try {
            for (Transparency mode : Transparency.values()) {
                TransparentSockets.apply("any", mode, List.of(socket));
                assertEquals(mode.acceptsDiverted() ? 1 : 0, socket.getIntOpt(0, 19), mode::toString);
            }
        } finally {
            socket.close();
        }
    }
}
