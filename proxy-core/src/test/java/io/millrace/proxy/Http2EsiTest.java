package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.millrace.proxy.http2.Http2Client;
import org.junit.jupiter.api.Test;

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
}
