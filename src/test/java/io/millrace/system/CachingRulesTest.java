package io.millrace.system;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests storing, reuse and partial responses (RFC 9111, RFC 9110 sections 13 and 14, RFC 9211). */
class CachingRulesTest {

    private static final String FRESH = "Cache-Control: max-age=600";
    private static final String TEXT = "0123456789";

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    /** The origin that is stopped. */
    @RegisterExtension
    static final ScriptedOrigin mortal = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.withLeakDetection();

    private static MillraceProcess proxy;

    @BeforeAll
    static void start() throws IOException {
        Path config = product.newDirectory().resolve("millrace.yaml");
        Files.writeString(config, """
                remap:
                  - map: http://mortal.example/
                    to: %s/
                  - map: /
                    to: %s/
                """.formatted(mortal.url(), origin.url()));
        proxy = product.launch().config(config).start();
    }

    private static RawResponse get(String target, String... fieldLines) throws IOException {
        return RawClient.fetch(proxy.port(), target, fieldLines);
    }

    private static RawResponse getFromMortal(String target) throws IOException {
        try (RawClient client = RawClient.connect(proxy.port())) {
            return client.send("GET " + target + " HTTP/1.1\r\nHost: mortal.example\r\n\r\n")
                    .response();
        }
    }

    private static RawResponse send(String method, String target) throws IOException {
        try (RawClient client = RawClient.connect(proxy.port())) {
            return client.request(method, target, "x".getBytes(StandardCharsets.US_ASCII))
                    .response();
        }
    }

    @Test
    void rfc9211_cacheStatusTellsMissFromHit() throws Exception {
        origin.serves("/status", TEXT, FRESH);
        RawResponse miss = get("/status");
        assertFalse(miss.isHit(), miss::toString);
        assertTrue(miss.joined("Cache-Status").contains("fwd=uri-miss"), miss::toString);
        RawResponse hit = get("/status");
        assertTrue(hit.isHit(), hit::toString);
        assertFalse(hit.joined("Cache-Status").contains("fwd="), hit::toString);
        assertEquals(TEXT, hit.text());
        assertEquals(1, origin.count("/status"));
    }

    @Test
    void rfc9111_5_1_ageCountsWhatWasSpentBefore() throws Exception {
        origin.serves("/age", TEXT, FRESH, "Age: 100");
        get("/age");
        RawResponse hit = get("/age");
        assertTrue(hit.isHit(), hit::toString);
        assertTrue(hit.ageSeconds() >= 100 && hit.ageSeconds() < 200, hit::toString);
    }

    @ParameterizedTest
    @CsvSource({
        "bytes=2-5,   2345,       bytes 2-5/10",
        "bytes=7-,    789,        bytes 7-9/10",
        "bytes=-3,    789,        bytes 7-9/10",
        "bytes=0-0,   0,          bytes 0-0/10",
        "bytes=5-100, 56789,      bytes 5-9/10",
        "bytes=-100,  0123456789, bytes 0-9/10",
    })
    void rfc9110_14_2_rangeOfAStoredAnswerIs206(String range, String expected, String contentRange) throws Exception {
        origin.serves("/range", TEXT, FRESH, "ETag: \"r\"");
        assertEquals(200, get("/range").status());
        int before = origin.count("/range");
        RawResponse response = get("/range", "Range: " + range);
        assertEquals(206, response.status(), response::toString);
        assertEquals(expected, response.text());
        assertEquals(contentRange, response.field("Content-Range"));
        assertEquals("\"r\"", response.field("ETag"));
        assertEquals(before, origin.count("/range"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"bytes=10-", "bytes=100-200", "bytes=-0"})
    void rfc9110_15_5_17_rangeBeyondAStoredAnswerIs416(String range) throws Exception {
        origin.serves("/range-beyond", TEXT, FRESH);
        get("/range-beyond");
        RawResponse response = get("/range-beyond", "Range: " + range);
        assertEquals(416, response.status(), response::toString);
        assertEquals("bytes */10", response.field("Content-Range"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"bytes=5-2", "bytes=a-b", "lines=1-2", "bytes", "bytes=1-2-3"})
    void rfc9110_14_2_invalidRangeIsIgnored(String range) throws Exception {
        origin.serves("/range-invalid", TEXT, FRESH);
        get("/range-invalid");
        RawResponse response = get("/range-invalid", "Range: " + range);
        assertEquals(200, response.status(), response::toString);
        assertEquals(TEXT, response.text());
    }

    @Test
    void rfc9110_13_1_5_ifRangeGuardsTheRange() throws Exception {
        origin.serves("/if-range", TEXT, FRESH, "ETag: \"strong\"", "Last-Modified: Mon, 02 Jan 2023 00:00:00 GMT");
        get("/if-range");
        assertEquals(
                206,
                get("/if-range", "Range: bytes=0-1", "If-Range: \"strong\"").status());
        assertEquals(
                200, get("/if-range", "Range: bytes=0-1", "If-Range: \"other\"").status());
        assertEquals(
                200,
                get("/if-range", "Range: bytes=0-1", "If-Range: W/\"strong\"").status());
        assertEquals(
                200,
                get("/if-range", "Range: bytes=0-1", "If-Range: Tue, 03 Jan 2023 00:00:00 GMT")
                        .status());
        assertEquals(1, origin.count("/if-range"));
    }

    @Test
    void rfc9110_13_1_2_conditionalRequestForAStoredAnswerIs304() throws Exception {
        origin.serves(
                "/conditional", TEXT, FRESH, "ETag: \"v1\"", "Last-Modified: Mon, 02 Jan 2023 00:00:00 GMT", "X-A: 1");
        get("/conditional");
        for (String condition : new String[] {
            "If-None-Match: \"v1\"",
            "If-None-Match: W/\"v1\"",
            "If-None-Match: \"v0\", \"v1\"",
            "If-None-Match: *",
            "If-Modified-Since: Mon, 02 Jan 2023 00:00:00 GMT",
            "If-Modified-Since: Wed, 04 Jan 2023 00:00:00 GMT"
        }) {
            RawResponse response = get("/conditional", condition);
            assertEquals(304, response.status(), () -> condition + " gets " + response);
            assertEquals("\"v1\"", response.field("ETag"));
            assertNotEquals("0", response.field("Content-Length"));
        }
        for (String condition : new String[] {
            "If-None-Match: \"v2\"",
            "If-Modified-Since: Sun, 01 Jan 2023 00:00:00 GMT",
            "If-None-Match: \"v2\"\r\nIf-Modified-Since: Wed, 04 Jan 2023 00:00:00 GMT"
        }) {
            RawResponse response = get("/conditional", condition);
            assertEquals(200, response.status(), () -> condition + " gets " + response);
            assertEquals(TEXT, response.text());
        }
        assertEquals(1, origin.count("/conditional"));
    }

    @Test
    void rfc9111_4_3_revalidationWith304KeepsTheBodyAndTakesTheFields() throws Exception {
        origin.on("/validated", exchange -> {
            if ("\"v1\"".equals(exchange.request().field("If-None-Match"))) {
                exchange.answer(304, "", "Cache-Control: no-cache", "ETag: \"v1\"", "X-Turn: " + exchange.number());
            } else {
                exchange.answer(200, TEXT, "Cache-Control: no-cache", "ETag: \"v1\"", "X-Turn: " + exchange.number());
            }
        });
        assertEquals("1", get("/validated").field("X-Turn"));
        RawResponse second = get("/validated");
        assertEquals(200, second.status(), second::toString);
        assertEquals(TEXT, second.text());
        assertEquals("2", second.field("X-Turn"));
        assertEquals("\"v1\"", origin.requests("/validated").get(1).field("If-None-Match"));
        assertEquals(304, get("/validated", "If-None-Match: \"v1\"").status());
        assertEquals(3, origin.count("/validated"));
    }

    @Test
    void rfc9111_4_3_3_changedRepresentationReplacesTheStoredOne() throws Exception {
        origin.on(
                "/changed",
                exchange -> exchange.answer(
                        200,
                        "version " + exchange.number(),
                        "Cache-Control: no-cache",
                        "ETag: \"" + exchange.number() + "\""));
        assertEquals("version 1", get("/changed").text());
        assertEquals("version 2", get("/changed").text());
        assertEquals("\"1\"", origin.requests("/changed").get(1).field("If-None-Match"));
        assertEquals("version 3", get("/changed").text());
        assertEquals("\"2\"", origin.requests("/changed").get(2).field("If-None-Match"));
    }

    @Test
    void rfc9111_4_2_4_staleIsServedWhileTheOriginIsDownUnlessForbidden() throws Exception {
        mortal.serves("/stale", TEXT, "Cache-Control: max-age=1", "ETag: \"s\"");
        mortal.serves("/strict", TEXT, "Cache-Control: max-age=1, must-revalidate", "ETag: \"s\"");
        assertEquals(TEXT, getFromMortal("/stale").text());
        assertEquals(TEXT, getFromMortal("/strict").text());
        mortal.stop();
        try {
            await("an age beyond the freshness lifetime")
                    .atMost(Duration.ofSeconds(20))
                    .until(() -> {
                        RawResponse response = getFromMortal("/stale");
                        assertEquals(200, response.status(), response::toString);
                        assertEquals(TEXT, response.text());
                        return response.ageSeconds() > 1;
                    });
            RawResponse strict = getFromMortal("/strict");
            assertTrue(strict.status() == 504 || strict.status() == 502, strict::toString);
            RawResponse unknown = getFromMortal("/unknown");
            assertTrue(unknown.status() == 502 || unknown.status() == 503, unknown::toString);
        } finally {
            mortal.start();
        }
        assertEquals(TEXT, getFromMortal("/strict").text());
    }

    @ParameterizedTest
    @ValueSource(strings = {"POST", "PUT", "DELETE", "PATCH", "UNKNOWN"})
    void rfc9111_4_4_unsafeMethodInvalidates(String method) throws Exception {
        String path = "/invalidated-by-" + method;
        origin.on(path, exchange -> exchange.answer(200, "version " + exchange.number(), FRESH));
        assertEquals("version 1", get(path).text());
        assertEquals("version 1", get(path).text());
        assertEquals(200, send(method, path).status());
        assertEquals("version 3", get(path).text());
    }

    @Test
    void rfc9111_4_4_failedUnsafeRequestInvalidatesNothing() throws Exception {
        origin.on("/not-invalidated", exchange -> {
            boolean safe = exchange.request().method().equals("GET");
            exchange.answer(safe ? 200 : 500, "version " + exchange.number(), FRESH);
        });
        assertEquals("version 1", get("/not-invalidated").text());
        assertEquals(500, send("POST", "/not-invalidated").status());
        assertEquals("version 1", get("/not-invalidated").text());
    }

    @Test
    void rfc9111_4_4_locationOfTheSameOriginIsInvalidatedToo() throws Exception {
        origin.on("/list", exchange -> exchange.answer(200, "version " + exchange.number(), FRESH));
        origin.on("/add", exchange -> exchange.answer(201, "", "Location: /list"));
        assertEquals("version 1", get("/list").text());
        assertEquals(201, send("POST", "/add").status());
        assertEquals("version 2", get("/list").text());
    }

    @Test
    void rfc9111_3_3_truncatedAnswersAreNeitherWholeNorStored() throws Exception {
        origin.on("/cut-length", exchange -> {
            if (exchange.number() == 1) {
                exchange.head(200, FRESH, "Content-Length: 10", "ETag: \"cut\"");
                exchange.write("01234");
                exchange.close();
            } else {
                exchange.answer(200, TEXT, FRESH, "ETag: \"cut\"");
            }
        });
        origin.on("/cut-chunks", exchange -> {
            if (exchange.number() == 1) {
                exchange.head(200, FRESH, "Transfer-Encoding: chunked");
                exchange.chunk("01234");
                exchange.close();
            } else {
                exchange.answer(200, TEXT, FRESH);
            }
        });
        for (String path : new String[] {"/cut-length", "/cut-chunks"}) {
            assertThrows(IOException.class, () -> refusalAsException(get(path)), path);
            RawResponse second = get(path);
            assertEquals(TEXT, second.text());
            assertFalse(second.isHit(), second::toString);
            assertTrue(get(path).isHit());
        }
    }

    /** If a whole response would be wrong, an error response is as good as an aborted connection. */
    private static void refusalAsException(RawResponse response) throws IOException {
        if (response.status() >= 500) {
            throw new IOException("refused: " + response);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Cache-Control: no-store",
                "Cache-Control: private, max-age=60",
                "Cache-Control: max-age=60\r\nVary: *",
                "Cache-Control: max-age=60, no-store",
                "Cache-Control: max-age=60\r\nCache-Control: private",
                "Expires: 0"
            })
    void rfc9111_3_whatMayNotBeReusedIsAskedForAgain(String fields) throws Exception {
        String path = "/not-reused-" + Integer.toHexString(fields.hashCode());
        origin.on(path, exchange -> exchange.answer(200, "answer " + exchange.number(), fields));
        assertEquals("answer 1", get(path).text());
        assertEquals("answer 2", get(path).text());
    }

    @Test
    void rfc9111_3_5_answersToAuthorizationAreNotShared() throws Exception {
        origin.on("/secret", exchange -> exchange.answer(200, "answer " + exchange.number(), FRESH));
        assertEquals("answer 1", get("/secret", "Authorization: Basic YTpi").text());
        assertEquals("answer 2", get("/secret").text());
        origin.on(
                "/open",
                exchange -> exchange.answer(200, "answer " + exchange.number(), "Cache-Control: public, max-age=60"));
        assertEquals("answer 1", get("/open", "Authorization: Basic YTpi").text());
        assertEquals("answer 1", get("/open").text());
    }

    @Test
    void rfc9111_4_1_variantsAreStoredApart() throws Exception {
        origin.on(
                "/vary",
                exchange -> exchange.answer(
                        200,
                        exchange.request().field("Accept-Language") + " " + exchange.number(),
                        FRESH,
                        "Vary: Accept-Language"));
        assertEquals("de 1", get("/vary", "Accept-Language: de").text());
        assertEquals("fr 2", get("/vary", "Accept-Language: fr").text());
        assertEquals("null 3", get("/vary").text());
        assertEquals("de 1", get("/vary", "Accept-Language: de").text());
        assertEquals("fr 2", get("/vary", "Accept-Language: fr").text());
        assertEquals("null 3", get("/vary").text());
        assertEquals(3, origin.count("/vary"));
    }

    @Test
    void rfc9111_5_2_1_requestDirectivesAreObeyed() throws Exception {
        origin.on("/asked", exchange -> exchange.answer(200, "answer " + exchange.number(), FRESH));
        RawResponse nothing = get("/asked", "Cache-Control: only-if-cached");
        assertEquals(504, nothing.status(), nothing::toString);
        assertEquals("answer 1", get("/asked").text());
        assertEquals("answer 1", get("/asked", "Cache-Control: only-if-cached").text());
        assertEquals("answer 2", get("/asked", "Cache-Control: no-cache").text());
        assertEquals("answer 2", get("/asked").text());
    }

    @Test
    void rfc9111_4_2_2_lastModifiedGivesAHeuristicLifetime() throws Exception {
        origin.on(
                "/heuristic",
                exchange -> exchange.answer(
                        200, "answer " + exchange.number(), "Last-Modified: Mon, 02 Jan 2023 00:00:00 GMT"));
        assertEquals("answer 1", get("/heuristic").text());
        assertEquals("answer 1", get("/heuristic").text());
    }

    @Test
    void rfc9111_3_notFoundWithALifetimeIsStored() throws Exception {
        origin.on("/missing", exchange -> exchange.answer(404, "answer " + exchange.number(), FRESH));
        assertEquals("answer 1", get("/missing").text());
        RawResponse hit = get("/missing");
        assertEquals(404, hit.status());
        assertEquals("answer 1", hit.text());
    }

    @Test
    void rfc9111_2_queriesAreKeysOfTheirOwn() throws Exception {
        origin.on("/query", exchange -> exchange.answer(200, exchange.request().target(), FRESH));
        assertEquals("/query?a=1", get("/query?a=1").text());
        assertEquals("/query?a=2", get("/query?a=2").text());
        assertEquals("/query", get("/query").text());
        assertEquals("/query?a=1", get("/query?a=1").text());
        assertEquals(3, origin.count("/query"));
    }

    @Test
    void storedAnswerKeepsItsFieldsAndLosesTheOriginsConnection() throws Exception {
        origin.serves("/fields", TEXT, FRESH, "X-Two: a", "X-Two: b", "Content-Type: text/plain", "Keep-Alive: 5");
        get("/fields");
        RawResponse hit = get("/fields");
        assertTrue(hit.isHit(), hit::toString);
        assertEquals("a, b", hit.joined("X-Two"));
        assertEquals("text/plain", hit.field("Content-Type"));
        assertNull(hit.field("Keep-Alive"), hit::toString);
        assertEquals(1, hit.values("Date").size(), hit::toString);
    }
}
