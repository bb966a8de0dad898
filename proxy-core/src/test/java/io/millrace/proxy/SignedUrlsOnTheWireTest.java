package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.guard.SignedUrlKeys;
import io.millrace.proxy.config.key.LoadedFile;
import io.millrace.proxy.observe.Counter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests signed URLs with real clients. */
class SignedUrlsOnTheWireTest {
    /** Signed for the paths of any host: P=01. */
    private static final String SIGNATURE = "E=4102444800&A=1&K=3&P=01&S=";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    private final List<String> requested = new CopyOnWriteArrayList<>();

    private void start(String keys) throws Exception {
        LoadedFile file = LoadedFile.read(Files.writeString(directory.resolve("keys"), keys));
        proxy.start(
                request -> {
                    requested.add(request.head().lines().findFirst().orElse(""));
                    request.ok("Cache-Control: max-age=600\r\n", RawInput.latin1("content " + request.number()));
                },
                fresh -> fresh.set(SignedUrlKeys.KEYS, file).set("signed_urls.when", "path =~ \"^/v/\""));
    }

    private static String signed(String path, String query) throws Exception {
        String before = query.isEmpty() ? "" : query + "&";
        Mac mac = Mac.getInstance("HmacSHA1");
        mac.init(new SecretKeySpec("secret".getBytes(StandardCharsets.US_ASCII), "HmacSHA1"));
        byte[] sum = mac.doFinal((path.substring(1) + "?" + before + SIGNATURE).getBytes(StandardCharsets.US_ASCII));
        return path + "?" + before + SIGNATURE + HexFormat.of().formatHex(sum);
    }

    @Test
    void clientsShareTheResponseUnderTheUrlWithoutSignature() throws Exception {
        start("key3 = secret\n");
        String one = signed("/v/a", "q=1");
        assertEquals("content 1", proxy.getAndSettle(one).text());
        RawClient.Response hit = proxy.get(one);
        assertEquals(200, hit.status());
        assertTrue(hit.field("cache-status").contains("hit"), hit.head());
        assertEquals(List.of("GET /v/a?q=1 HTTP/1.1"), requested);
        proxy.purge("/v/a?q=1");
        assertEquals("content 2", proxy.getAndSettle(one).text());
        assertEquals(200, proxy.getAndSettle("/free").status());
    }

    @Test
    void aRequestWithoutSignatureIsRefusedAlsoIfAResponseIsStored() throws Exception {
        start("key3 = secret\n");
        proxy.getAndSettle(signed("/v/a", ""));
        RawClient.Response refused = proxy.get("/v/a");
        assertEquals(403, refused.status());
        assertEquals("403 Forbidden: the URL has no signature\n", refused.text());
        assertTrue(refused.field("cache-status").endsWith("detail=signed-url:missing"), refused.head());
        assertEquals(403, proxy.get(signed("/v/a", "") + "0").status());
        assertEquals(2, proxy.counted(Counter.DENIED_SIGNED_URL));
    }

    @Test
    void refusedRequestsAreRedirectedToTheErrorUrl() throws Exception {
        start("key3 = secret\nerror_url = 302 http://login.example/x\n");
        RawClient.Response refused = proxy.get("/v/a");
        assertEquals(302, refused.status());
        assertEquals("http://login.example/x", refused.field("location"));
    }

    @Test
    void requestsThatBypassTheCacheHaveNoSignatureEither() throws Exception {
        start("key3 = secret\n");
        try (RawClient client = proxy.client()) {
            client.send(
                    "POST " + signed("/v/a", "q=1") + " HTTP/1.1\r\nHost: test.example\r\nContent-Length: 0\r\n\r\n");
            assertEquals(200, client.response().status());
        }
        assertEquals(List.of("POST /v/a?q=1 HTTP/1.1"), requested);
    }
}
