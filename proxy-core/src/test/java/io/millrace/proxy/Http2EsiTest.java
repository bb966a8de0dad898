package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.http2.Http2Client;
import io.millrace.proxy.observe.Counter;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests assembled pages for HTTP/2 clients. */
class Http2EsiTest extends Http2Fixture {
    @Test
    void pagesAreAssembled() throws Exception {
        String long16 = "0123456789abcdef";
        start(
                request -> {
                    boolean isPage = request.has("GET /page ");
                    request.ok(
                            "Cache-Control: max-age=600\r\n"
                                    + (isPage ? "Surrogate-Control: content=\"ESI/1.0\"\r\nETag: \"a\"\r\n" : ""),
                            RawInput.latin1(
                                    isPage ? "a<esi:include src='/f'/><esi:include src='/g'/>" : long16.repeat(9000)));
                },
                config -> config.set("esi.enabled", "true"));
        Http2Client client = client();
        for (int id = 1; id < 7; id += 2) {
            Http2Client.Response response = client.get(id, "/page").response(id);
            assertEquals(200, response.status());
            assertNull(response.field("etag"));
            assertEquals("288001", response.field("content-length"));
            assertEquals(
                    "a" + long16.repeat(18_000),
                    new String(response.content(), java.nio.charset.StandardCharsets.US_ASCII));
        }
        assertEquals(3, proxy.origin().requests());
    }

    /** Without an answer to its window, the client has received only the beginning of the page when it resets it. */
    @ParameterizedTest
    @ValueSource(strings = {"/page", "/waiting"})
    void streamsThatAreResetGiveTheirMemoryBack(String path) throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        start(
                request -> {
                    if (request.has("GET /slow ")) {
                        asked.countDown();
                        go.await();
                    }
                    boolean isPage = request.has("GET /page ");
                    boolean isDocument = isPage || request.has("GET /waiting ");
                    request.ok(
                            "Cache-Control: max-age=600\r\n"
                                    + (isDocument ? "Surrogate-Control: content=\"ESI/1.0\"\r\n" : ""),
                            RawInput.latin1(
                                    isPage ? "x".repeat(300_000) : isDocument ? "a<esi:include src='/slow'/>" : "f"));
                },
                config -> config.set("esi.enabled", "true"));
        Http2Client client = client();
        client.get(1, path);
        if (path.equals("/page")) {
            client.await(Http2Client.DATA);
        } else {
            asked.await();
        }
        assertTrue(proxy.proxy().shared().pages().usedBytes() > 0);
        client.frame(Http2Client.RST_STREAM, 0, 1, Http2Client.number(8));
        ProxyExtension.await(
                "no memory is held", () -> proxy.proxy().shared().pages().usedBytes() == 0);
        go.countDown();
        assertEquals("f", client.get(3, "/f").response(3).text());
        ProxyExtension.await("no request is active", () -> proxy.counted(Counter.REQUESTS_ACTIVE) == 0);
    }
}
