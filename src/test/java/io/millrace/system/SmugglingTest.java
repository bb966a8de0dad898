package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that ambiguous messages are answered with 400 and the end of the connection (RFC 9112 sections 5, 6 and 11.2).
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SmugglingTest {

    /** The smuggled request, which must never reach the origin. */
    private static final String SMUGGLED = "GET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n";

    private static final String TEXT = "Content-Type: text/plain";

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.withLeakDetection();

    MillraceProcess proxy;
    private int smuggledBefore;

    @BeforeAll
    void start() throws IOException {
        origin.serves("/", "served", "Cache-Control: no-store", TEXT);
        origin.serves("/smuggled", "smuggled", "Cache-Control: no-store", TEXT);
        proxy = configured(product.launch()).start();
    }

    /** Returns the launch with the configuration to be tested. */
    Launch configured(Launch launch) throws IOException {
        return launch.origin(origin.url());
    }

    @BeforeEach
    void countWhatWasSmuggledBefore() {
        smuggledBefore = origin.count("/smuggled");
    }

    @AfterEach
    void nothingWasSmuggled() {
        assertEquals(smuggledBefore, origin.count("/smuggled"));
    }

    @Test
    void plainRequestIsServed() throws Exception {
        try (RawClient client = RawClient.connect(proxy.port())) {
            client.send("POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 5\r\n\r\nhello");
            assertEquals("served", client.response().text());
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Content-Length: 5\r\nTransfer-Encoding: chunked",
                "Transfer-Encoding: chunked\r\nContent-Length: 5",
                "Content-Length: 5\r\nContent-Length: 6",
                "Content-Length: 5, 6",
                "Content-Length: +5",
                "Content-Length: -5",
                "Content-Length: 0x5",
                "Content-Length: 5 5",
                "Content-Length: 5_0",
                "Content-Length:",
                "Content-Length: 99999999999999999999",
                "Content-Length : 5",
                "Transfer-Encoding : chunked",
                "Transfer-Encoding: xchunked",
                "Transfer-Encoding: chunked, identity",
                "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
                "Transfer-Encoding: \u000bchunked",
                "Content-Length: 5\r\n X-Folded: 1",
                "X-Folded: 1\r\n\tfolded\r\nContent-Length: 5",
                "X-Bare-CR: a\rContent-Length: 5",
                "X-Nul: a\u0000b\r\nContent-Length: 5",
                "X Space: 1\r\nContent-Length: 5",
                ": no name\r\nContent-Length: 5",
                "no colon\r\nContent-Length: 5",
                "Host: b.example\r\nContent-Length: 5",
            })
    void rfc9112_6_3_doubtfulFieldsGet400AndTheEnd(String fields) throws Exception {
        assertRefused("POST / HTTP/1.1\r\nHost: a.example\r\n" + fields + "\r\n\r\n0\r\n\r\n" + SMUGGLED);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0x5\r\nhello\r\n0\r\n\r\n",
                "+5\r\nhello\r\n0\r\n\r\n",
                "-5\r\nhello\r\n0\r\n\r\n",
                "zz\r\nhello\r\n0\r\n\r\n",
                "\r\nhello\r\n0\r\n\r\n",
                "5 5\r\nhello\r\n0\r\n\r\n",
                "FFFFFFFFFFFFFFFF5\r\nhello\r\n0\r\n\r\n",
                "5\r\nhelloXX0\r\n\r\n",
                "3\r\nhello\r\n0\r\n\r\n",
            })
    void rfc9112_7_1_badChunksGet400AndTheEnd(String chunks) throws Exception {
        assertRefused("POST / HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + SMUGGLED);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET / HTTP/1.1\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: a.example\r\nHost: a.example\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: a.example/path\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: a.example b.example\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: user@a.example\r\n\r\n",
                "GET /a b HTTP/1.1\r\nHost: a.example\r\n\r\n",
                "GET  / HTTP/1.1\r\nHost: a.example\r\n\r\n",
                "GET /\u0001 HTTP/1.1\r\nHost: a.example\r\n\r\n",
                "GET / HTTP/1.x\r\nHost: a.example\r\n\r\n",
                "GET / http/1.1\r\nHost: a.example\r\n\r\n",
                "GET relative HTTP/1.1\r\nHost: a.example\r\n\r\n",
                "G{T / HTTP/1.1\r\nHost: a.example\r\n\r\n",
                "GET / HTTP/1.1\r\n Host: a.example\r\n\r\n",
            })
    void rfc9112_3_malformedRequestLineOrHostGets400AndTheEnd(String request) throws Exception {
        assertRefused(request + SMUGGLED);
    }

    @Test
    void doubtfulAnswersOfTheOriginAreNotPassedOn() throws Exception {
        origin.on("/cl-te", exchange -> {
            exchange.write("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n" + TEXT + "\r\nContent-Length: 5\r\n"
                    + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil");
            exchange.close();
        });
        origin.on("/two-cl", exchange -> {
            exchange.write("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n" + TEXT + "\r\nContent-Length: 5\r\n"
                    + "Content-Length: 6\r\n\r\nhello!");
            exchange.close();
        });
        origin.on("/no-http", exchange -> {
            exchange.write("SSH-2.0-whatever\r\n\r\n");
            exchange.close();
        });
        for (String path : new String[] {"/cl-te", "/two-cl", "/no-http"}) {
            for (String accepted : new String[] {"identity", "gzip"}) {
                assertEquals(
                        502,
                        RawClient.fetch(proxy.port(), path, "Accept-Encoding: " + accepted)
                                .status(),
                        path);
            }
        }
    }

    /** Bytes after a complete response belong to no request, and must not reach the next client. */
    @Test
    void bytesAfterTheOriginsAnswerReachNoOtherClient() throws Exception {
        origin.on(
                "/extra",
                exchange -> exchange.write("HTTP/1.1 200 OK\r\nCache-Control: no-store\r\n" + TEXT
                        + "\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"));
        for (int i = 0; i < 10; i++) {
            String accepted = i % 2 == 0 ? "identity" : "gzip";
            assertEquals("hello", text(RawClient.fetch(proxy.port(), "/extra", "Accept-Encoding: " + accepted)));
            assertEquals("served", text(RawClient.fetch(proxy.port(), "/", "Accept-Encoding: " + accepted)));
        }
    }

    @Test
    void truncatedRequestNeverCountsAsWhole() throws Exception {
        int before = origin.count("/");
        try (RawClient client = RawClient.connect(proxy.port())) {
            client.send("POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 10\r\n\r\nhello");
            client.shutdownOutput();
            assertThrows(IOException.class, () -> {
                RawResponse response = client.response();
                if (response.status() >= 400) {
                    throw new IOException("refused");
                }
            });
        }
        assertEquals(before, origin.count("/"));
    }

    private static String text(RawResponse response) throws IOException {
        if (response.field("Content-Encoding") == null) {
            return response.text();
        }
        try (GZIPInputStream decoder = new GZIPInputStream(new ByteArrayInputStream(response.body()))) {
            return new String(decoder.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private void assertRefused(String request) throws IOException {
        int before = origin.count("/");
        try (RawClient client = RawClient.connect(proxy.port())) {
            client.send(request);
            RawResponse response = client.response();
            assertTrue(
                    response.status() == 400 || response.status() == 501, () -> "400 or 501 expected, not " + response);
            assertTrue(client.reachesEnd(), "the connection should end");
        }
        assertEquals(before, origin.count("/"), "the request reached the origin");
    }
}
