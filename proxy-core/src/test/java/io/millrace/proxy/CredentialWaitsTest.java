package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import io.millrace.proxy.access.token.TestIssuer;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.guard.TokenKeys;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests requests that wait for a check of their credentials, with an issuer that is slow or does not answer. */
class CredentialWaitsTest {
    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    private final CountDownLatch asked = new CountDownLatch(1);
    private final CountDownLatch answered = new CountDownLatch(1);
    private TestIssuer issuer;
    private HttpServer server;

    @BeforeEach
    void startIssuer() throws Exception {
        issuer = new TestIssuer();
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/keys", exchange -> {
            asked.countDown();
            try {
                answered.await();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            byte[] body = issuer.keySet().getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
    }

    @AfterEach
    void stopIssuer() {
        answered.countDown();
        server.stop(0);
    }

    private void start(UnaryOperator<ProxyConfig.Builder> more) throws IOException {
        proxy.start(request -> request.ok("Cache-Control: max-age=600\r\n", RawInput.latin1("content")), more);
    }

    private String url(String path) {
        return "http://127.0.0.1:" + server.getAddress().getPort() + path;
    }

    private String bearer() throws Exception {
        return "Authorization: Bearer " + issuer.token(claims -> {}) + "\r\n";
    }

    /** The result of such a check is not remembered, so that a second lookup of the challenge would never end. */
    @Test
    void aRequestToTheChallengePathIsAnsweredWithoutTheKeys() throws Exception {
        Files.createDirectories(directory.resolve("challenges"));
        start(config -> config.listenTls("127.0.0.1:0")
                .set("tls.acme.names", "www.example.com")
                .set("tls.acme.accept_terms", "true")
                .set("tls.acme.storage", directory.toString())
                .set("tls.unknown_name", "reject")
                .set(TokenKeys.KEYS_URL, url("/none")));
        RawClient.Response refused = proxy.get("/.well-known/acme-challenge/x", bearer());
        assertEquals(503, refused.status());
        assertTrue(refused.field("cache-status").endsWith("detail=jwt:keys-unavailable"), refused.head());
    }

    @Test
    void theResultOfSettingsThatHaveChangedDoesNotCount() throws Exception {
        start(config -> config.set(TokenKeys.KEYS_URL, url("/keys")));
        try (RawClient client = new RawClient(proxy.address())) {
            client.send("GET /a HTTP/1.1\r\nHost: www.example.com\r\n" + bearer() + "\r\n");
            asked.await();
            proxy.reload(config ->
                    config.set(TokenKeys.KEYS_URL, url("/keys")).set(TokenKeys.ISSUER, "https://other.example"));
            answered.countDown();
            RawClient.Response refused = client.response();
            assertEquals(401, refused.status());
            assertTrue(refused.field("cache-status").endsWith("detail=jwt:issuer"), refused.head());
        }
    }
}
