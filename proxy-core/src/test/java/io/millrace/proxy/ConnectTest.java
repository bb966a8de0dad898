package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.observe.Counter;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests CONNECT (RFC 9110 s9.3.6), from the client's and the destination's side. */
class ConnectTest {
    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    /** Answers with all received bytes. */
    private static void echo(RawOrigin.Exchange request) throws IOException {
        request.ok("", RawInput.latin1(request.head()));
    }

    private String authority() {
        return proxy.origin().url().substring("http://".length());
    }

    private ProxyConfig.Builder forwarding(ProxyConfig.Builder config) {
        return config.set("forward_proxy.enabled", "true")
                .set("forward_proxy.allow", "127.0.0.1")
                .set("forward_proxy.connect_ports", authority().replaceFirst(".*:", ""))
                .set("forward_proxy.allow_destinations", "127.0.0.1");
    }

    private RawClient connect(String authority, String... fields) throws IOException {
        return proxy.client()
                .send("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n" + String.join("", fields)
                        + "\r\n");
    }

    private static String freePort() throws IOException {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return String.valueOf(free.getLocalPort());
        }
    }

    private static void assertClosed(RawClient client) throws IOException {
        assertEquals(0, client.in.readToEnd().length);
    }

    @Test
    void tunnelCarriesOnlyTheClientsBytes() throws Exception {
        proxy.start(ConnectTest::echo, this::forwarding);
        RawClient client = connect(authority(), "Proxy-Authorization: Basic eDp5\r\n");
        RawClient.Response answer = client.head();
        assertEquals(200, answer.status());
        assertNull(answer.field("content-length"));
        assertNull(answer.field("transfer-encoding"));
        assertEquals(1, proxy.counted(Counter.TUNNELS_CONNECT));
        String request = "GET /inside HTTP/1.1\r\nHost: inside.example\r\n\r\n";
        for (int i = 0; i < 2; i++) {
            assertEquals(request, client.send(request).response().text());
        }
        client.close();
        ProxyExtension.await("the end", () -> proxy.counted(Counter.TUNNELS_CONNECT) == 0);
        assertEquals(2, proxy.origin().requests());
        assertEquals(2L * request.length(), proxy.counted(Counter.TUNNEL_BYTES_TO_ORIGIN));
        assertEquals(1, proxy.counted(Counter.TUNNELS_OPENED_CONNECT));
    }

    @Test
    void earlyBytesBelongToTheTunnel() throws Exception {
        proxy.start(ConnectTest::echo, this::forwarding);
        String request = "GET /inside HTTP/1.1\r\nHost: inside.example\r\n\r\n";
        RawClient client = proxy.client().send("CONNECT " + authority() + " HTTP/1.1\r\nHost: x\r\n\r\n" + request);
        assertEquals(200, client.head().status());
        assertEquals(request, client.response().text());
    }

    /** CONNECT is off by default, and the bytes for the tunnel are not parsed as requests. */
    @Test
    void offByDefault_andFollowingBytesAreNoRequest() throws Exception {
        proxy.start(ConnectTest::echo);
        RawClient client = proxy.client()
                .send("CONNECT " + authority() + " HTTP/1.1\r\nHost: x\r\n\r\nGET /a HTTP/1.1\r\nHost: x\r\n\r\n");
        RawClient.Response refused = client.response();
        assertEquals(405, refused.status());
        assertEquals("close", refused.field("connection"));
        assertEquals("GET, HEAD, POST, PUT, DELETE, OPTIONS, PATCH", refused.field("allow"));
        assertClosed(client);
        assertEquals(0, proxy.origin().requests());
        assertEquals(1, proxy.counted(Counter.DENIED_METHOD));
    }

    @Test
    void portThatIsNotListedIsDenied() throws Exception {
        proxy.start(ConnectTest::echo, config -> forwarding(config).set("forward_proxy.connect_ports", "443"));
        RawClient client = connect(authority());
        RawClient.Response refused = client.response();
        assertEquals(403, refused.status());
        assertTrue(refused.field("cache-status").endsWith("; detail=forward:port"), refused.head());
        assertClosed(client);
        assertEquals(1, proxy.counted(Counter.DENIED_FORWARD_PORT));
        assertEquals(0, proxy.counted(Counter.TUNNELS_OPENED_CONNECT));
    }

    @Test
    void clientThatIsNotListedIsDenied() throws Exception {
        proxy.start(ConnectTest::echo, config -> forwarding(config).set("forward_proxy.allow", "10.0.0.0/8"));
        RawClient client = connect(authority());
        RawClient.Response refused = client.response();
        assertEquals(403, refused.status());
        assertTrue(refused.field("cache-status").endsWith("; detail=forward:client"), refused.head());
        assertClosed(client);
        assertEquals(1, proxy.counted(Counter.DENIED_FORWARD_CLIENT));
    }

    /** Private addresses in all notations, and names that resolve to them. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "127.0.0.1",
                "localhost",
                "x.localhost",
                "127.1.2.3",
                "0.0.0.0",
                "[::1]",
                "[::]",
                "[::ffff:127.0.0.1]",
                "[64:ff9b::7f00:1]",
                "[2002:7f00:1::1]",
                "[::7f00:1]",
                "[::ffff:0:7f00:1]",
                "169.254.169.254",
                "10.1.2.3",
                "172.31.0.1",
                "192.168.0.1",
                "100.100.100.200",
                "168.63.129.16",
                "224.0.0.1",
                "255.255.255.255",
                "[fd00:ec2::254]",
                "[fe80::1]",
                "[ff02::1]",
                "[64:ff9b:1::a00:1]"
            })
    void privateDestinationIsDenied(String host) throws Exception {
        proxy.start(
                ConnectTest::echo, config -> forwarding(config).set("forward_proxy.allow_destinations", "192.0.2.77"));
        String port = authority().replaceFirst(".*:", "");
        RawClient client = connect(host + ":" + port);
        RawClient.Response refused = client.response();
        assertEquals(403, refused.status(), host);
        assertTrue(refused.field("cache-status").endsWith("; detail=destination-denied"), refused.head());
        assertClosed(client);
        assertEquals(0, proxy.origin().requests());
        assertEquals(1, proxy.counted(Counter.DENIED_FORWARD_DESTINATION));
    }

    /** A tunnel to this proxy itself would be a loop, whatever else is allowed. */
    @Test
    void ownAddressIsNoDestination() throws Exception {
        String port = freePort();
        proxy.start(ConnectTest::echo, config -> forwarding(config)
                .set("forward_proxy.connect_ports", port)
                .set("forward_proxy.allow_destinations", "all")
                .listen("127.0.0.1:" + port));
        assertEquals(403, connect("127.0.0.1:" + port).response().status());
        assertEquals(403, connect("localhost:" + port).response().status());
        assertEquals(403, connect("[::ffff:127.0.0.1]:" + port).response().status());
    }

    /** A tunnel to the admin API is refused too, because the API has other rules for clients of this machine. */
    @Test
    void addressOfTheAdminApiIsNoDestination() throws Exception {
        Path token = directory.resolve("token");
        Files.writeString(token, "a-token-of-the-test-with-32-bytes");
        String port = freePort();
        proxy.start(ConnectTest::echo, config -> forwarding(config)
                .set("forward_proxy.connect_ports", port)
                .set("admin.listen", "127.0.0.1:" + port)
                .set("admin.token_file", token.toString()));
        assertEquals(403, connect("127.0.0.1:" + port).response().status());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/path",
                "http://a.example:443/",
                "a.example",
                "*",
                "a.example:",
                "a.example:0",
                "a.example:443/",
                "u@a.example:443"
            })
    void onlyAuthorityFormIsCONNECTs_RFC9112_3_2_3(String target) throws Exception {
        proxy.start(ConnectTest::echo, this::forwarding);
        RawClient client = connect(target);
        assertEquals(400, client.response().status());
        assertClosed(client);
    }

    @Test
    void contentIsRefused() throws Exception {
        proxy.start(ConnectTest::echo, this::forwarding);
        RawClient client = connect(authority(), "Content-Length: 3\r\n").send("abc");
        assertEquals(400, client.response().status());
        assertEquals(0, proxy.counted(Counter.TUNNELS_OPENED_CONNECT));
    }

    @Test
    void destinationThatRefusesIs502() throws Exception {
        proxy.start(ConnectTest::echo, config -> forwarding(config).set("forward_proxy.connect_ports", "1"));
        RawClient client = connect("127.0.0.1:1");
        RawClient.Response refused = client.response();
        assertEquals(502, refused.status());
        assertTrue(refused.text().contains("there is no connection: connect-refused"), refused.text());
        assertClosed(client);
    }

    @Test
    void everyTunnelAndRefusalHasALine() throws Exception {
        Path log = directory.resolve("access.log");
        proxy.start(ConnectTest::echo, config -> forwarding(config)
                .set("log.access.enabled", "true")
                .set("log.access.path", log.toString())
                .set("log.access.format", "%<cqhm> %<pssc> %<crc> %<shn> in=%<cqcl> out=%<pscl> %<detail>"));
        RawClient client = connect(authority());
        assertEquals(200, client.head().status());
        String request = "GET / HTTP/1.1\r\n\r\n";
        assertEquals(request, client.send(request).response().text());
        client.socket.shutdownOutput();
        assertClosed(client);
        ProxyExtension.await("the end", () -> proxy.counted(Counter.TUNNELS_CONNECT) == 0);
        connect("127.0.0.1:443").response();
        proxy.proxy().close();
        assertEquals(
                List.of(
                        "CONNECT 200 TCP_MISS 127.0.0.1 in=18 out=57 tunnel-closed",
                        "CONNECT 403 TCP_DENIED - in=0 out=51 forward:port"),
                Files.readAllLines(log));
    }

    @Test
    void drainKeepsTunnels() throws Exception {
        proxy.start(ConnectTest::echo, this::forwarding);
        RawClient client = connect(authority());
        assertEquals(200, client.head().status());
        var drained = proxy.proxy().drain(60_000_000_000L);
        assertTrue(client.send("GET / HTTP/1.1\r\n\r\n").response().text().startsWith("GET / "));
        assertFalse(drained.toCompletableFuture().isDone());
        client.close();
        ProxyExtension.await("the drain", () -> drained.toCompletableFuture().isDone());
    }
}
