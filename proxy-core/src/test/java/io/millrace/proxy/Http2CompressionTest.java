package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.http2.Http2Client;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests compression for HTTP/2 clients. */
class Http2CompressionTest extends Http2Fixture {
    @ParameterizedTest
    @ValueSource(strings = {"br", "zstd", "gzip"})
    void missesAndHitsAreEncoded(String coding) throws Exception {
        byte[] content = CompressionOnTheWireTest.text(400_000);
        start(
                request -> request.ok("Cache-Control: max-age=600\r\nContent-Type: text/css\r\n", content),
                config -> config.set("compression.enabled", "true"));
        Http2Client client = client();
        for (int id = 1; id < 7; id += 2) {
            Http2Client.Response response =
                    client.get(id, "/a", "accept-encoding", coding).response(id);
            assertEquals(200, response.status());
            assertEquals(coding, response.field("content-encoding"));
            assertArrayEquals(content, CompressionOnTheWireTest.decoded(coding, response.content()));
        }
        assertEquals(1, proxy.origin().requests());
    }
}
