package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.observe.Counter;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests WebSocket over a listener with TLS. */
class SecureUpgradeTest {
    @TempDir
    static Path directory;

    private static TestCertificate certificate;

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @BeforeAll
    static void makeCertificate() throws Exception {
        certificate = TestCertificate.in(directory);
    }

    private RawClient start(RawOrigin.Script script) throws IOException {
        proxy.start(script, config -> config.listen("127.0.0.1:0", certificate.certificate(), certificate.key())
                .map("wss://test.example/", proxy.origin().url().replace("http:", "ws:"), ConfigValues.empty()));
        return proxy.keep(certificate.client(proxy.proxy().addresses().get(1)));
    }

    @Test
    void webSocketGoesBothWays() throws Exception {
        RawClient client = start(WebSocketPeer::echo);
        assertEquals(101, client.send(WebSocketPeer.request("/chat")).head().status());
        for (int length : new int[] {1, 65536, 3_000_000}) {
            byte[] payload = ProxyExtension.content(length);
            client.send(WebSocketPeer.clientFrame(WebSocketPeer.BINARY, payload));
            assertArrayEquals(payload, WebSocketPeer.read(client.in, false).payload());
        }
        client.send(WebSocketPeer.clientFrame(WebSocketPeer.CLOSE, new byte[0]));
        assertEquals(WebSocketPeer.CLOSE, WebSocketPeer.read(client.in, false).opcode());
        assertEquals(0, client.in.readToEnd().length);
        client.close();
        ProxyExtension.await("the end", () -> proxy.counted(Counter.TUNNELS_CLOSED) == 1);
    }

    /** The bytes after the request are the next request, although they are already decrypted and no more arrive. */
    @Test
    void requestBehindARefusedOfferIsAnswered() throws Exception {
        RawClient client =
                start(request -> request.ok("", RawInput.latin1(request.head().substring(4, 6))));
        client.send(WebSocketPeer.request("/a") + "GET /b HTTP/1.1\r\nHost: test.example\r\n\r\n"
                + WebSocketPeer.request("/c"));
        assertEquals("/a", client.response().text());
        assertEquals("/b", client.response().text());
        assertEquals("/c", client.response().text());
    }

    /** TLS has no half close: the client has ended, and the origin's last bytes are discarded. */
    @Test
    void closeNotifyReachesTheOriginAsTheEnd() throws Exception {
        RawClient client = start(request -> {
            request.send(WebSocketPeer.accepted(request.head()));
            request.in().readToEnd();
            request.send("nobody hears");
            request.socket().close();
        });
        assertEquals(
                101,
                client.send(WebSocketPeer.request("/chat") + "bytes").head().status());
        client.close();
        ProxyExtension.await("the end", () -> proxy.counted(Counter.TUNNELS_CLOSED) == 1);
        assertEquals(5, proxy.counted(Counter.TUNNEL_BYTES_TO_ORIGIN));
    }
}
