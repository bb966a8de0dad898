package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.guard.PasswordKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.LoadedFile;
import io.millrace.proxy.config.origins.Http2Keys;
import io.millrace.proxy.http2.Http2Client;
import io.millrace.proxy.observe.Counter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.bouncycastle.crypto.generators.OpenBSDBCrypt;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests Basic authentication with real clients. */
class PasswordsOnTheWireTest {
    private static final byte[] CONTENT = ProxyExtension.content(100_000);

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    private final List<String> requests = new CopyOnWriteArrayList<>();
    private final List<Boolean> matches = new CopyOnWriteArrayList<>();

    static String line(String user, String password) {
        return user + ":" + OpenBSDBCrypt.generate("2y", password.toCharArray(), new byte[16], 4) + "\n";
    }

    static String authorization(String pair) {
        return "Basic " + Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.UTF_8));
    }

    private LoadedFile users(String text) throws Exception {
        return LoadedFile.read(Files.writeString(directory.resolve("users"), text));
    }

    @BeforeEach
    void start() throws Exception {
        LoadedFile users = users(line("ann", "one") + line("bob", "two"));
        proxy.start(
                request -> {
                    requests.add(request.head());
                    if (request.has("POST ")) {
                        matches.add(Arrays.equals(CONTENT, request.in().read(CONTENT.length)));
                    }
                    request.ok("Cache-Control: max-age=600\r\n", RawInput.latin1("content " + request.number()));
                },
                fresh -> fresh.listen(
                                "127.0.0.1:0",
                                ConfigValues.builder()
                                        .set(Http2Keys.LISTEN_CLEAR, true)
                                        .build())
                        .set(PasswordKeys.FILE, users)
                        .set(PasswordKeys.REALM, "staff"));
    }

    private RawClient.Response get(String path, String pair) throws Exception {
        return proxy.getAndSettle(path, "Authorization: " + authorization(pair) + "\r\n");
    }

    @Test
    void usersShareAResponseThatOriginsSendWithoutAPassword() throws Exception {
        assertEquals("content 1", get("/a", "ann:one").text());
        for (String pair : new String[] {"ann:one", "bob:two", "bob:two"}) {
            RawClient.Response hit = get("/a", pair);
            assertEquals("content 1", hit.text(), hit.head());
            assertTrue(hit.field("cache-status").contains("hit"), hit.head());
        }
        assertEquals(1, requests.size());
        assertFalse(requests.get(0).contains("uthorization"), requests.get(0));
        assertEquals(0, proxy.counted(Counter.DENIED_BASIC_AUTH));
    }

    @Test
    void requestsWithoutARightPasswordAreChallenged() throws Exception {
        get("/a", "ann:one");
        RawClient.Response missing = proxy.get("/a");
        assertEquals(401, missing.status());
        assertEquals("Basic realm=\"staff\", charset=\"UTF-8\"", missing.field("www-authenticate"));
        assertTrue(missing.field("cache-status").endsWith("detail=basic-auth:missing"), missing.head());
        for (int i = 0; i < 2; i++) {
            RawClient.Response wrong = get("/a", "ann:two");
            assertEquals(401, wrong.status());
            assertTrue(wrong.field("cache-status").endsWith("detail=basic-auth:wrong"), wrong.head());
        }
        RawClient.Response bearer = proxy.get("/a", "Authorization: Bearer x\r\n");
        assertTrue(bearer.field("cache-status").endsWith("detail=basic-auth:malformed"), bearer.head());
        assertEquals(4, proxy.counted(Counter.DENIED_BASIC_AUTH));
        assertEquals(1, requests.size());
    }

    @Test
    void contentThatArrivesDuringTheComparisonReachesTheOrigin() throws Exception {
        for (String pair : new String[] {"ann:one", "bob:two"}) {
            try (RawClient client = proxy.client()) {
                client.send("POST /a HTTP/1.1\r\nHost: test.example\r\nAuthorization: " + authorization(pair)
                        + "\r\nContent-Length: " + CONTENT.length + "\r\n\r\n");
                client.send(CONTENT);
                assertEquals(200, client.response().status());
            }
        }
        assertEquals(List.of(true, true), matches);
    }

    @Test
    void http2ClientsAreChallengedAndAdmitted() throws Exception {
        try (Http2Client client = new Http2Client(proxy.proxy().addresses().get(1))) {
            Http2Client.Response missing =
                    client.headers(1, true, Http2Client.request("GET", "/a")).response(1);
            assertEquals(401, missing.status());
            for (int stream = 3; stream < 9; stream += 2) {
                Http2Client.Response right = client.headers(
                                stream,
                                true,
                                Http2Client.request("GET", "/a", "authorization", authorization("ann:one")))
                        .response(stream);
                assertEquals(200, right.status());
            }
        }
    }

    @Test
    void aReloadAppliesAChangedFile() throws Exception {
        assertEquals(200, get("/a", "ann:one").status());
        LoadedFile users = users(line("ann", "new"));
        proxy.reload(builder -> builder.set(PasswordKeys.FILE, users));
        assertEquals(401, get("/a", "ann:one").status());
        assertEquals(200, get("/a", "ann:new").status());
    }
}
