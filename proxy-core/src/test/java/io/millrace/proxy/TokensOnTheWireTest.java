package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import io.millrace.proxy.access.token.TestIssuer;
import io.millrace.proxy.config.guard.TokenKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.LoadedFile;
import io.millrace.proxy.observe.Counter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jose4j.lang.JoseException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests JSON Web Tokens with real clients. */
class TokensOnTheWireTest {
    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    private final List<String> requests = new CopyOnWriteArrayList<>();
    private TestIssuer issuer;

    private LoadedFile keys(TestIssuer of) throws Exception {
        return LoadedFile.read(Files.writeString(directory.resolve("keys.json"), of.keySet()));
    }

    @BeforeEach
    void start() throws Exception {
        issuer = new TestIssuer();
        LoadedFile keys = keys(issuer);
        proxy.start(
                request -> {
                    requests.add(request.head());
                    request.ok("Cache-Control: max-age=600\r\n", RawInput.latin1("content " + request.number()));
                },
                fresh -> fresh.set(TokenKeys.KEYS_FILE, keys)
                        .set(TokenKeys.COOKIE, "session")
                        .set(TokenKeys.REALM, "shop"));
    }

    private String token(String subject) throws JoseException {
        return issuer.token(claims -> claims.setSubject(subject));
    }

    @Test
    void usersShareAResponseThatOriginsSendWithoutAToken() throws Exception {
        String ann = token("ann");
        String bob = token("bob");
        assertEquals(
                "content 1",
                proxy.getAndSettle("/a", "Authorization: Bearer " + ann + "\r\n")
                        .text());
        for (String field : new String[] {
            "Authorization: Bearer " + ann,
            "Authorization: bearer " + bob,
            "Cookie: a=b; session=" + ann + "; c=d",
            "Authorization: Bearer " + bob
        }) {
            RawClient.Response hit = proxy.get("/a", field + "\r\n");
            assertEquals("content 1", hit.text(), hit.head());
            assertTrue(hit.field("cache-status").contains("hit"), hit.head());
        }
        assertEquals(1, requests.size());
        assertFalse(requests.get(0).contains("uthorization"), requests.get(0));
        assertEquals(0, proxy.counted(Counter.DENIED_JWT));
    }

    @Test
    void requestsWithoutAValidTokenAreChallenged() throws Exception {
        RawClient.Response missing = proxy.get("/a");
        assertEquals(401, missing.status());
        assertEquals("Bearer realm=\"shop\"", missing.field("www-authenticate"));
        assertTrue(missing.field("cache-status").endsWith("detail=jwt:missing"), missing.head());
        RawClient.Response basic = proxy.get("/a", "Authorization: Basic YTpi\r\n");
        assertTrue(basic.field("cache-status").endsWith("detail=jwt:missing"), basic.head());
        String foreign = new TestIssuer().token(claims -> {});
        for (int i = 0; i < 2; i++) {
            RawClient.Response wrong = proxy.get("/a", "Authorization: Bearer " + foreign + "\r\n");
            assertEquals(401, wrong.status());
            assertEquals("Bearer realm=\"shop\", error=\"invalid_token\"", wrong.field("www-authenticate"));
            assertTrue(wrong.field("cache-status").endsWith("detail=jwt:signature"), wrong.head());
        }
        assertEquals(4, proxy.counted(Counter.DENIED_JWT));
        assertEquals(0, requests.size());
    }

    @Test
    void theOriginGetsTheTokenIfItIsForwarded() throws Exception {
        proxy.reload(builder -> builder.set(TokenKeys.FORWARD, true));
        String field = "Authorization: Bearer " + token("ann");
        for (int i = 1; i <= 2; i++) {
            assertEquals(
                    "content " + i, proxy.getAndSettle("/a", field + "\r\n").text());
        }
        assertTrue(requests.get(0).contains(field), requests.get(0));
    }

    @Test
    void theKeysOfARuleReplaceTheGeneralOnes() throws Exception {
        TestIssuer own = new TestIssuer();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            byte[] body = own.keySet().getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        try {
            ConfigValues rule = ConfigValues.builder()
                    .set(
                            TokenKeys.KEYS_URL,
                            "http://127.0.0.1:" + server.getAddress().getPort() + "/")
                    .build();
            LoadedFile general = keys(issuer);
            proxy.reload(builder -> builder.set(TokenKeys.KEYS_FILE, general)
                    .map("http://own.example/", proxy.origin().url(), rule));
            String right = own.token(claims -> {});
            assertEquals(200, status("own.example", right));
            assertEquals(401, status("own.example", token("ann")));
            assertEquals(401, status("www.example.com", right));
            assertEquals(200, status("www.example.com", token("ann")));
        } finally {
            server.stop(0);
        }
    }

    private int status(String host, String token) throws Exception {
        try (RawClient client = new RawClient(proxy.address())) {
            return client.send("GET /a HTTP/1.1\r\nHost: " + host + "\r\nAuthorization: Bearer " + token + "\r\n\r\n")
                    .response()
                    .status();
        }
    }

    @Test
    void aReloadAppliesChangedKeys() throws Exception {
        String before = token("ann");
        assertEquals(
                200,
                proxy.getAndSettle("/a", "Authorization: Bearer " + before + "\r\n")
                        .status());
        issuer = new TestIssuer();
        LoadedFile keys = keys(issuer);
        proxy.reload(builder -> builder.set(TokenKeys.KEYS_FILE, keys));
        assertEquals(
                401, proxy.get("/a", "Authorization: Bearer " + before + "\r\n").status());
        assertEquals(
                200,
                proxy.get("/a", "Authorization: Bearer " + token("ann") + "\r\n")
                        .status());
    }
}
