package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.observe.Counter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests validation over real sockets: the origin confirms or replaces the stale response, fails, or does not answer.
 */
class StaleResponseTest {
    private static final String OLD = "Cache-Control: max-age=10\r\nETag: \"old\"\r\n";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private final CountDownLatch go = new CountDownLatch(1);

    /** The first response is stored and becomes stale; the script answers the following requests. */
    private void startStale(String fields, RawOrigin.Script later, String... settings) throws Exception {
        proxy.start(
                request -> {
                    if (request.number() == 1) {
                        request.ok(fields, RawInput.latin1("old"));
                    } else {
                        later.answer(request);
                    }
                },
                config -> {
                    config.set("worker.event_loops", "2");
                    for (int i = 0; i < settings.length; i += 2) {
                        config.set(settings[i], settings[i + 1]);
                    }
                    return config;
                });
        assertEquals("old", proxy.get("/a").text());
        // A fetch leaves the collapser a moment after its last byte was sent to the client.
        ProxyExtension.await(
                "the end of the first fetch",
                () -> proxy.proxy().shared().collapser().size() == 0);
        proxy.advanceSeconds(60);
    }

    private static void notModified(RawOrigin.Exchange request) throws Exception {
        assertTrue(request.has("If-None-Match: \"old\""), request.head());
        request.send("HTTP/1.1 304 Not Modified\r\nETag: \"old\"\r\nCache-Control: max-age=10\r\n\r\n");
    }

    @Test
    void confirmedResponseIsFreshAgain() throws Exception {
        startStale(OLD, StaleResponseTest::notModified);
        assertEquals("old", proxy.get("/a").text());
        assertEquals("old", proxy.get("/a").text());
        assertEquals(2, proxy.origin().requests());
    }

    @Test
    void oneValidationAnswersEverybody() throws Exception {
        startStale(OLD, request -> {
            go.await();
            notModified(request);
        });
        List<RawClient> clients = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            clients.add(proxy.client().get("/a"));
        }
        proxy.awaitFollowers(7);
        go.countDown();
        for (RawClient client : clients) {
            assertEquals("old", client.response().text());
        }
        assertEquals(2, proxy.origin().requests());
    }

    @Test
    void newRepresentationReplacesTheStaleOne() throws Exception {
        startStale(OLD, request -> request.ok("Cache-Control: max-age=10\r\n", RawInput.latin1("new")));
        assertEquals("new", proxy.get("/a").text());
        assertEquals("new", proxy.get("/a").text());
        assertEquals(2, proxy.origin().requests());
    }

    /** RFC 9111 s4.3.4: the 304 selects no stored response, so the request is sent again without conditions. */
    @Test
    void confirmationOfAnotherRepresentationIsAskedAgain_rfc9111_s4_3_4() throws Exception {
        startStale(OLD, request -> {
            if (request.has("If-None-Match")) {
                request.send("HTTP/1.1 304 Not Modified\r\nETag: \"other\"\r\n\r\n");
            } else {
                request.ok("Cache-Control: max-age=10\r\n", RawInput.latin1("new"));
            }
        });
        assertEquals("new", proxy.get("/a").text());
    }

    /** RFC 9111 s4.2.4, s4.3.3. */
    @Test
    void staleResponseAnswersForAnOriginThatFails_rfc9111_s4_2_4() throws Exception {
        startStale(
                OLD,
                request -> {
                    if (request.number() == 2) {
                        request.send("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n");
                    } else if (request.number() == 3) {
                        request.reset();
                    } else {
                        request.awaitClose();
                    }
                },
                "timeouts.origin_first_byte",
                "300ms");
        for (int i = 0; i < 3; i++) {
            assertEquals("old", proxy.get("/a").text());
        }
        // A reset connection that had served before is replaced once without an error (RFC 9112 s9.3.1).
        assertTrue(proxy.origin().requests() >= 4);
    }

    /** RFC 9111 s5.2.2.2. */
    @Test
    void mustRevalidateForbidsTheStaleResponse_rfc9111_s5_2_2_2() throws Exception {
        startStale(
                "Cache-Control: max-age=10, must-revalidate\r\nETag: \"old\"\r\n",
                request -> request.awaitClose(),
                "timeouts.origin_first_byte",
                "300ms");
        assertEquals(504, proxy.get("/a").status());
    }

    /** A waiter whose collapse wait has ended may still be served the stale response if its own validation fails. */
    @Test
    void waiterThatGaveUpWaitingMayStillBeServedStale() throws Exception {
        startStale(
                OLD,
                request -> {
                    if (request.number() == 2) {
                        go.await();
                        notModified(request);
                    } else {
                        request.reset();
                    }
                },
                "cache.collapse_wait",
                "50ms");
        RawClient leader = proxy.client().get("/a");
        ProxyExtension.await("the validation", () -> proxy.origin().requests() == 2);
        assertEquals("old", proxy.get("/a").text());
        go.countDown();
        assertEquals("old", leader.response().text());
    }

    /** RFC 5861 s3. */
    @Test
    void staleWhileRevalidateAnswersAtOnceAndValidatesAside_rfc5861_s3() throws Exception {
        startStale("Cache-Control: max-age=10, stale-while-revalidate=600\r\nETag: \"old\"\r\n", request -> {
            go.await();
            request.ok("Cache-Control: max-age=10\r\n", RawInput.latin1("new"));
        });
        assertEquals("old", proxy.get("/a").text());
        go.countDown();
        ProxyExtension.await("the new one is stored", () -> proxy.counted(Counter.FILLS_STORED) == 2);
        assertEquals("new", proxy.get("/a").text());
        assertEquals(2, proxy.origin().requests());
    }

    /**
     * RFC 9111 s5.2.2.10: s-maxage forbids stale responses, unless an operator permits them. The response then states
     * that.
     */
    @ParameterizedTest
    @CsvSource({
        "false, '',                      502, ",
        "true,  '',                      200, 'millrace; hit; ttl=-50; detail=\"origin-502, stale-despite-s-maxage\"'",
        "true,  'Cache-Control: max-stale\r\n', 200, millrace; hit; ttl=-50; detail=stale-despite-s-maxage"
    })
    void staleDespiteSharedMaxAgeIsReported(String allowed, String field, int status, String cacheStatus)
            throws Exception {
        startStale(
                "Cache-Control: s-maxage=10\r\nETag: \"old\"\r\n",
                request -> request.send("HTTP/1.1 502 Down\r\nContent-Length: 0\r\n\r\n"),
                "cache.stale_despite_s_maxage",
                allowed);
        RawClient.Response answer = proxy.get("/a", field.replace("\\r\\n", "\r\n"));
        assertEquals(status, answer.status());
        if (status == 200) {
            assertEquals(cacheStatus, answer.field("cache-status"));
        }
    }
}
