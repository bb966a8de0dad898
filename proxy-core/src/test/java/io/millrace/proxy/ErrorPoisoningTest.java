package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the published ways of cache-poisoned denial of service: a request with special fields makes the origin answer
 * with a storable error. The origins of these tests give every response a lifetime. RFC 9111 s3 obliges no cache to
 * store anything.
 */
class ErrorPoisoningTest {
    private static final String LASTING = "Cache-Control: public, max-age=600\r\n";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private static void error(RawOrigin.Exchange request, int status) throws IOException {
        request.send("HTTP/1.1 " + status + " Error\r\nContent-Length: 5\r\n" + LASTING + "\r\nerror");
    }

    /** Starts an origin that answers the trigger with an error, and everything else with a page. */
    private void start(int status, String trigger) throws IOException {
        proxy.start(request -> {
            if (request.has(trigger)) {
                error(request, status);
            } else {
                request.ok(LASTING, RawInput.latin1("page"));
            }
        });
    }

    private void assertServedToOthers() throws IOException {
        RawClient.Response victim = proxy.get("/a");
        assertEquals(200, victim.status(), victim.head());
        assertEquals("page", victim.text());
    }

    /** HTTP header oversize: within the limits of this proxy, but above those of the origin. */
    @ParameterizedTest
    @ValueSource(ints = {400, 404, 413, 431, 500, 501})
    void headerOversize(int status) throws Exception {
        start(status, "X-Oversize");
        String big = "X-Oversize: " + "a".repeat(9000) + "\r\n";
        assertEquals(status, proxy.getAndSettle("/a", big).status());
        assertServedToOthers();
    }

    @ParameterizedTest
    @ValueSource(ints = {400, 413, 431})
    void manyHeaders(int status) throws Exception {
        start(status, "X-Many");
        assertEquals(
                status, proxy.getAndSettle("/a", "X-Many: a\r\n".repeat(90)).status());
        assertServedToOthers();
    }

    /** HTTP meta character, with the characters that a field value may contain (RFC 9110 s5.5). */
    @ParameterizedTest
    @ValueSource(ints = {400, 403, 404, 500})
    void metaCharacterThatAFieldMayHave(int status) throws Exception {
        start(status, "X-Meta");
        assertEquals(
                status, proxy.getAndSettle("/a", "X-Meta: caf\u00e9 \u0085\r\n").status());
        assertServedToOthers();
    }

    /** HTTP meta character: control characters never reach an origin. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 7, 8, 10, 11, 12, 13, 27, 127})
    void metaCharacterThatNoFieldMayHave(int character) throws Exception {
        start(400, "X-Meta");
        RawClient.Response attack = proxy.get("/a", "X-Meta: a" + (char) character + "b\r\n");
        assertEquals(400, attack.status());
        assertEquals(0, proxy.origin().requests());
        assertServedToOthers();
    }

    /** HTTP method override: the fields that name another method are not forwarded. */
    @ParameterizedTest
    @CsvSource({
        "X-HTTP-Method-Override, 404",
        "X-HTTP-Method, 405",
        "X-Method-Override, 501",
        "X-HTTP-Method-Override, 400"
    })
    void methodOverride(String name, int status) throws Exception {
        start(status, name);
        for (String method : new String[] {"POST", "PUT", "DELETE", "HEAD", "PATCH", "TRACE", "X"}) {
            assertEquals(200, proxy.get("/a", name + ": " + method + "\r\n").status());
        }
        assertEquals(1, proxy.origin().requests());
        assertServedToOthers();
    }

    /** RFC 6585 s3 to s6 forbids storing 428, 429, 431 and 511. The other errors concern this request, not its URL. */
    @ParameterizedTest
    @ValueSource(ints = {406, 408, 411, 412, 413, 415, 416, 417, 421, 425, 426, 428, 429, 431, 511})
    void errorThatIsAboutOneRequest_rfc6585(int status) throws Exception {
        start(status, "X-Odd");
        assertEquals(status, proxy.getAndSettle("/a", "X-Odd: a\r\n").status());
        assertServedToOthers();
    }

    /** The error is not given to the requests that waited for it either. */
    @Test
    void errorIsNotSharedWithWaitingRequests() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        proxy.start(request -> {
            if (request.has("X-Oversize")) {
                go.await();
                error(request, 400);
            } else {
                request.ok(LASTING, RawInput.latin1("page"));
            }
        });
        RawClient attacker = proxy.client().get("/a", "X-Oversize: " + "a".repeat(9000) + "\r\n");
        ProxyExtension.await("the attack", () -> proxy.origin().requests() == 1);
        RawClient victim = proxy.client().get("/a");
        proxy.awaitFollowers(1);
        go.countDown();
        assertEquals(400, attacker.response().status());
        assertEquals("page", victim.response().text());
    }

    /** An error for an ordinary request stays storable if the origin permits it, because it concerns the URL. */
    @ParameterizedTest
    @ValueSource(ints = {400, 403, 404, 405, 410, 414, 451, 500, 501, 503})
    void errorAboutTheUrlIsStored(int status) throws Exception {
        start(status, "GET");
        assertEquals(status, proxy.getAndSettle("/a", "Cookie: a=b\r\n").status());
        assertEquals(status, proxy.get("/a").status());
        assertEquals(1, proxy.origin().requests());
    }

    /** A status that the operator lists is stored. */
    @Test
    void statusThatTheOperatorNamesIsStored() throws Exception {
        proxy.start(request -> error(request, 413), config -> config.set("cache.negative_caching.enabled", "true")
                .set("cache.negative_caching.list", "413"));
        proxy.getAndSettle("/a", "X-Odd: a\r\n");
        assertEquals(413, proxy.get("/a").status());
        assertEquals(1, proxy.origin().requests());
    }

    /** Negative caching is for URLs. It does not make the error of one odd request the response for all. */
    @ParameterizedTest
    @ValueSource(ints = {403, 404, 500, 503})
    void negativeCachingIsForOrdinaryRequests(int status) throws Exception {
        proxy.start(
                request -> {
                    if (request.has("X-Oversize")) {
                        request.send("HTTP/1.1 " + status + " Error\r\nContent-Length: 0\r\n\r\n");
                    } else {
                        request.ok(LASTING, RawInput.latin1("page"));
                    }
                },
                config -> config.set("cache.negative_caching.enabled", "true"));
        proxy.getAndSettle("/a", "X-Oversize: " + "a".repeat(9000) + "\r\n");
        assertServedToOthers();
    }

    /** A stored page is not replaced by an error that one client's request causes during its validation. */
    @Test
    void validationThatEndsInAnErrorLeavesThePage() throws Exception {
        start(431, "X-Odd");
        assertEquals("page", proxy.getAndSettle("/a").text());
        proxy.advanceSeconds(601);
        assertEquals(431, proxy.getAndSettle("/a", "X-Odd: a\r\n").status());
        assertServedToOthers();
    }

    /** A browser's number of fields and bytes counts as ordinary. */
    @Test
    void requestOfABrowserIsOrdinary() throws Exception {
        start(404, "GET");
        String cookie = "Cookie: " + "session=0123456789abcdef; ".repeat(40) + "\r\n";
        assertTrue(cookie.length() > 1000);
        assertEquals(
                404,
                proxy.getAndSettle("/a", cookie, "Accept-Language: de,en;q=0.5\r\n")
                        .status());
        assertEquals(404, proxy.get("/a").status());
        assertFalse(proxy.origin().requests() > 1);
    }
}
