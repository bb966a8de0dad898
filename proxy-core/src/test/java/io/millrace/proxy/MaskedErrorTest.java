package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests that an origin's error which a stored response masks does not replace that response, whatever its lifetime is.
 */
class MaskedErrorTest {
    private static final String GOOD = "Cache-Control: max-age=10\r\nETag: \"good\"\r\n";
    private static final String LASTING = "Cache-Control: max-age=60\r\n";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private final CountDownLatch go = new CountDownLatch(1);

    /** The first response is good and becomes stale. From then on the origin fails, until a request has X-Well. */
    private void startFailing(String good, String error, String... settings) throws Exception {
        proxy.start(
                request -> {
                    if (request.number() == 1) {
                        request.ok(good, RawInput.latin1("good"));
                    } else if (request.has("X-Well")) {
                        request.ok(LASTING, RawInput.latin1("new"));
                    } else {
                        go.await();
                        request.send("HTTP/1.1 503 Down\r\nContent-Length: 5\r\n" + error + "\r\nerror");
                    }
                },
                config -> {
                    config.set("worker.event_loops", "2");
                    for (int i = 0; i < settings.length; i += 2) {
                        config.set(settings[i], settings[i + 1]);
                    }
                    return config;
                });
        assertEquals("good", getAndLeave().text());
        proxy.advanceSeconds(15);
    }

    private RawClient.Response getAndLeave(String... fields) throws Exception {
        RawClient.Response response = proxy.getAndSettle("/a", fields);
        ProxyExtension.await(
                "the end of the fetch", () -> proxy.proxy().shared().collapser().size() == 0);
        return response;
    }

    @ParameterizedTest
    @CsvSource({"'Cache-Control: max-age=60\r\n', false", "'', true"})
    void maskedErrorIsNotStored(String error, String negativeCaching) throws Exception {
        startFailing(GOOD, error.replace("\\r\\n", "\r\n"), "cache.negative_caching.enabled", negativeCaching);
        go.countDown();
        for (int i = 0; i < 3; i++) {
            RawClient.Response answer = getAndLeave();
            assertEquals("good", answer.text());
            assertTrue(answer.field("cache-status").contains("detail=origin-503"), answer.head());
        }
        assertEquals("new", getAndLeave("X-Well: 1\r\n").text());
        assertEquals("new", getAndLeave().text());
    }

    /** RFC 5861 s3. */
    @Test
    void errorOfAValidationAsideIsNotStored_rfc5861_s3() throws Exception {
        startFailing("Cache-Control: max-age=10, stale-while-revalidate=60\r\nETag: \"good\"\r\n", LASTING);
        go.countDown();
        for (int i = 0; i < 3; i++) {
            int asked = proxy.origin().requests();
            assertEquals("good", getAndLeave().text());
            ProxyExtension.await("the validation", () -> proxy.origin().requests() > asked);
            proxy.settle();
        }
    }

    /** A client that demands a new response receives the error, and the good response stays for the others. */
    @ParameterizedTest
    @CsvSource({"true", "false"})
    void errorForAClientWithNoStoreReplacesNothing(String conditional) throws Exception {
        startFailing(GOOD, LASTING, "cache.ims_on_client_no_cache", conditional);
        go.countDown();
        assertEquals(503, getAndLeave("Cache-Control: no-cache\r\n").status());
        assertEquals("good", getAndLeave().text());
    }

    @Test
    void errorAfterA304ForAnotherRepresentationIsNotStored() throws Exception {
        proxy.start(request -> {
            if (request.number() == 1) {
                request.ok(GOOD, RawInput.latin1("good"));
            } else if (request.has("If-None-Match")) {
                request.send("HTTP/1.1 304 Not Modified\r\nETag: \"other\"\r\n\r\n");
            } else {
                request.send("HTTP/1.1 503 Down\r\nContent-Length: 5\r\n" + LASTING + "\r\nerror");
            }
        });
        assertEquals("good", getAndLeave().text());
        proxy.advanceSeconds(15);
        assertEquals("good", getAndLeave().text());
        assertEquals("good", getAndLeave().text());
    }

    @Test
    void clientsThatWaitForTheFailingValidationAreServedStaleToo() throws Exception {
        startFailing(GOOD, LASTING);
        List<RawClient> clients = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            clients.add(proxy.client().get("/a"));
        }
        proxy.awaitFollowers(4);
        go.countDown();
        for (RawClient client : clients) {
            assertEquals("good", client.response().text());
        }
        proxy.settle();
        assertEquals("good", getAndLeave().text());
    }

    /** No stored response masks the error, so it is stored like any other response. */
    @Test
    void errorThatIsNotMaskedIsStored() throws Exception {
        startFailing("Cache-Control: max-age=10, must-revalidate\r\nETag: \"good\"\r\n", LASTING);
        go.countDown();
        assertEquals(503, getAndLeave().status());
        assertEquals(503, getAndLeave().status());
        assertEquals(2, proxy.origin().requests());
    }
}
