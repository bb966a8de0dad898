package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests fields for one client: the client whose request was sent to the origin receives them, and no other client. An
 * update of a stored response does not add them.
 */
class FieldsOfOneClientTest {
    private static final int PIECE = 1 << 20;
    private static final String STORED = "Cache-Control: max-age=10, stale-while-revalidate=5\r\nETag: \"a\"\r\n";
    private static final String OF_ONE = "Set-Cookie: sid=1\r\n";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    private final CountDownLatch go = new CountDownLatch(1);

    /** Stores a response without such a field and lets it become stale; a validation is answered with these fields. */
    private void startStale(int ageSeconds, String stored, String later, String... settings) throws Exception {
        proxy.start(
                request -> {
                    if (request.number() == 1) {
                        request.ok(stored, RawInput.latin1("page"));
                        return;
                    }
                    go.await();
                    boolean head = request.head().startsWith("HEAD");
                    request.send("HTTP/1.1 " + (head ? "200 OK\r\nContent-Length: 4" : "304 Not Modified") + "\r\n"
                            + later + "\r\n");
                },
                config -> {
                    config.set("worker.event_loops", "2");
                    for (int i = 0; i < settings.length; i += 2) {
                        config.set(settings[i], settings[i + 1]);
                    }
                    return config;
                });
        getAndLeave("/a");
        proxy.advanceSeconds(ageSeconds);
    }

    private RawClient.Response getAndLeave(String path, String... fields) throws IOException {
        RawClient.Response response = proxy.getAndSettle(path, fields);
        ProxyExtension.await(
                "the end of the fetch", () -> proxy.proxy().shared().collapser().size() == 0);
        return response;
    }

    @Test
    void cookieOfA304GoesToTheClientThatAsked_rfc9111_s3_2() throws Exception {
        startStale(60, STORED, STORED + OF_ONE);
        go.countDown();
        assertEquals("sid=1", getAndLeave("/a").field("set-cookie"));
        RawClient.Response other = getAndLeave("/a");
        assertEquals("page", other.text());
        assertNull(other.field("set-cookie"));
        assertEquals(2, proxy.origin().requests());
    }

    @Test
    void cookieOfA304ReachesAClientThatHasTheRepresentation() throws Exception {
        startStale(60, STORED, STORED + OF_ONE);
        go.countDown();
        RawClient.Response asker = getAndLeave("/a", "If-None-Match: \"a\"\r\n");
        assertEquals(304, asker.status());
        assertEquals("sid=1", asker.field("set-cookie"));
        assertNull(getAndLeave("/a", "If-None-Match: \"a\"\r\n").field("set-cookie"));
    }

    @Test
    void clientsThatWaitForAValidationGetNoneOfItsCookies() throws Exception {
        startStale(60, STORED, STORED + OF_ONE);
        RawClient leader = proxy.client().get("/a");
        ProxyExtension.await("the validation", () -> proxy.origin().requests() == 2);
        List<RawClient> others = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            others.add(proxy.client().get("/a"));
        }
        proxy.awaitFollowers(4);
        go.countDown();
        assertEquals("sid=1", leader.response().field("set-cookie"));
        for (RawClient other : others) {
            RawClient.Response response = other.response();
            assertEquals("page", response.text());
            assertNull(response.field("set-cookie"));
        }
        assertEquals(2, proxy.origin().requests());
    }

    /** A 304 that other clients may not receive makes the waiting requests go to the origin. */
    @ParameterizedTest
    @ValueSource(strings = {"private", "no-store"})
    void clientsThatWaitForAValidationDoNotGetAPrivateAnswer_rfc9111_s5_2_2_7(String directive) throws Exception {
        startStale(60, STORED, "Cache-Control: " + directive + "\r\nETag: \"a\"\r\nX-For: the asker\r\n");
        RawClient leader = proxy.client().get("/a");
        ProxyExtension.await("the validation", () -> proxy.origin().requests() == 2);
        RawClient other = proxy.client().get("/a");
        proxy.awaitFollowers(1);
        go.countDown();
        assertEquals("the asker", leader.response().field("x-for"));
        ProxyExtension.await("a fetch of its own", () -> proxy.origin().requests() == 3);
        assertTrue(other.response().status() > 0);
    }

    /** If each use is validated, the origin's answer to one client does not apply to another client. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "Last-Modified: Thu, 01 Jan 2015 00:00:00 GMT\r\nContent-Type: text/html\r\n",
                "Cache-Control: max-age=0\r\n",
                "Cache-Control: no-cache\r\n"
            })
    void clientsThatWaitAskForThemselvesWhereEachUseIsValidated_rfc9111_s4(String stored) throws Exception {
        proxy.start(
                request -> {
                    if (request.number() == 1) {
                        request.ok(stored + "ETag: \"a\"\r\n", RawInput.latin1("page of 1"));
                        return;
                    }
                    go.await();
                    if (request.has("sid=1")) {
                        request.send("HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n");
                    } else {
                        request.ok(stored + "ETag: \"b\"\r\n", RawInput.latin1("page of 2"));
                    }
                },
                config -> config.set("worker.event_loops", "2"));
        getAndLeave("/a", "Cookie: sid=1\r\n");
        RawClient leader = proxy.client().get("/a", "Cookie: sid=1\r\n");
        ProxyExtension.await("the validation", () -> proxy.origin().requests() == 2);
        RawClient other = proxy.client().get("/a", "Cookie: sid=2\r\n");
        proxy.awaitFollowers(1);
        go.countDown();
        assertEquals("page of 1", leader.response().text());
        assertEquals("page of 2", other.response().text());
        assertEquals(3, proxy.origin().requests());
    }

    /** RFC 5861 s3: no client requested it, so no client receives it. */
    @Test
    void cookieOfAValidationAsideIsDropped() throws Exception {
        startStale(12, STORED, STORED + OF_ONE);
        go.countDown();
        assertNull(getAndLeave("/a").field("set-cookie"));
        ProxyExtension.await("the validation", () -> proxy.origin().requests() == 2);
        RawClient.Response fresh = getAndLeave("/a");
        assertNull(fresh.field("set-cookie"));
        assertTrue(fresh.field("cache-status").contains("hit; ttl=10"), fresh.head());
    }

    @Test
    void cookieOfAnAnswerToHeadIsNotShared_rfc9111_s4_3_5() throws Exception {
        startStale(60, STORED, STORED + OF_ONE);
        go.countDown();
        try (RawClient client = new RawClient(proxy.address())) {
            client.send("HEAD /a HTTP/1.1\r\nHost: test.example\r\nConnection: close\r\n\r\n");
            assertEquals("sid=1", client.head().field("set-cookie"));
        }
        proxy.settle();
        RawClient.Response hit = getAndLeave("/a");
        assertNull(hit.field("set-cookie"));
        assertEquals(2, proxy.origin().requests());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Cache-Control: max-age=10, private=\"x-user\"",
                "Cache-Control: max-age=10, no-cache=\"x-user\"",
                "Cache-Control: max-age=10"
            })
    void namedFieldsGoToTheClientThatAsked_rfc9111_s5_2_2_4(String control) throws Exception {
        boolean byOperator = !control.contains("x-user");
        startStale(
                60,
                control + "\r\nETag: \"a\"\r\n",
                control + "\r\nETag: \"a\"\r\nX-User: bob\r\n",
                "cache.unshared_fields",
                byOperator ? "X-User" : "X-Other");
        go.countDown();
        assertEquals("bob", getAndLeave("/a").field("x-user"));
        assertNull(getAndLeave("/a").field("x-user"));
        assertEquals(2, proxy.origin().requests());
    }

    /** RFC 9111 s3.4: the first part, and each part that is added later. */
    @Test
    void cookieOfAPartIsNotShared_rfc9111_s3_4() throws Exception {
        byte[] body = ProxyExtension.content(3 * PIECE);
        proxy.start(
                request -> {
                    String[] ends = RawClient.field(request.head(), "range")
                            .substring("bytes=".length())
                            .split("-", -1);
                    int first = Integer.parseInt(ends[0]);
                    int last = Math.min(Integer.parseInt(ends[1]), body.length - 1);
                    request.send("HTTP/1.1 206 Partial Content\r\nContent-Length: " + (last - first + 1)
                            + "\r\nContent-Range: bytes " + first + "-" + last + "/" + body.length
                            + "\r\nETag: \"a\"\r\nCache-Control: max-age=60, private=\"x-user\"\r\nX-User: u"
                            + request.number() + "\r\n"
                            + (request.number() == 1 ? "" : "Set-Cookie: sid=" + request.number() + "\r\n") + "\r\n");
                    request.send(Arrays.copyOfRange(body, first, last + 1));
                },
                config -> config.storage(directory.resolve("volume"), 256L << 20));
        assertOneClients("u1", null, getAndLeave("/a", "Range: bytes=0-9\r\n"));
        assertOneClients(null, null, getAndLeave("/a", "Range: bytes=0-9\r\n"));
        assertOneClients("u2", "sid=2", getAndLeave("/a", "Range: bytes=" + PIECE + "-" + (PIECE + 9) + "\r\n"));
        assertOneClients(null, null, getAndLeave("/a", "Range: bytes=" + PIECE + "-" + (PIECE + 9) + "\r\n"));
        assertEquals(2, proxy.origin().requests());
    }

    private static void assertOneClients(String user, String cookie, RawClient.Response response) {
        assertEquals(206, response.status(), response.head());
        assertEquals(user, response.field("x-user"), response.head());
        assertEquals(cookie, response.field("set-cookie"), response.head());
    }
}
