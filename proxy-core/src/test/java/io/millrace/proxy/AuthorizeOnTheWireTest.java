package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.guard.AuthorizeConfig;
import io.millrace.proxy.config.guard.AuthorizeKeys;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.OnError;
import io.millrace.proxy.observe.Counter;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests decisions of an authorisation server with real clients, and a server whose responses each test determines. */
class AuthorizeOnTheWireTest {
    private static final String ANN = "Authorization: Bearer ann\r\n";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private final List<String> questions = new CopyOnWriteArrayList<>();
    private final List<String> requests = new CopyOnWriteArrayList<>();
    private final List<RawClient> clients = new ArrayList<>();
    private RawOrigin server;

    @AfterEach
    void stop() throws IOException {
        for (RawClient client : clients) {
            client.close();
        }
        server.close();
    }

    /** Starts the server with a script, and the proxy with an origin that answers with storable content. */
    private void start(RawOrigin.Script decide, UnaryOperator<ProxyConfig.Builder> more) throws Exception {
        server = new RawOrigin(question -> {
            questions.add(question.head());
            decide.answer(question);
        });
        proxy.start(
                request -> {
                    requests.add(request.head());
                    request.ok("Cache-Control: max-age=600\r\n", RawInput.latin1("content " + request.number()));
                },
                fresh -> more.apply(fresh.set(AuthorizeKeys.URL, server.url() + "/check?site=shop")));
    }

    private static void allow(RawOrigin.Exchange question) throws IOException {
        question.ok("X-User: ann\r\nX-Other: secret\r\nSet-Cookie: a=b\r\n", new byte[0]);
    }

    private RawClient open(String request) throws IOException {
        RawClient client = new RawClient(proxy.address());
        clients.add(client);
        return client.send(request);
    }

    @Test
    void theServerGetsTheRequestAndUsersShareTheStoredResponse() throws Exception {
        start(AuthorizeOnTheWireTest::allow, config -> config);
        assertEquals(
                "content 1",
                proxy.getAndSettle("/a?b=c", ANN + "Cookie: s=1\r\nX-Private: p\r\n")
                        .text());
        RawClient.Response hit = proxy.get("/a?b=c", "Authorization: Bearer bob\r\n");
        assertEquals("content 1", hit.text());
        assertTrue(hit.field("cache-status").contains("hit"), hit.head());
        assertNull(hit.field("set-cookie"));
        assertEquals(1, requests.size());
        assertFalse(requests.get(0).contains("uthorization"), requests.get(0));
        assertEquals(2, questions.size());
        String question = questions.get(0);
        assertTrue(question.startsWith("GET /check?site=shop HTTP/1.1\r\n"), question);
        for (String line : new String[] {
            "Authorization: Bearer ann",
            "Cookie: s=1",
            "X-Forwarded-Method: GET",
            "X-Forwarded-Proto: http",
            "X-Forwarded-Host: test.example",
            "X-Forwarded-Uri: /a?b=c",
            "X-Forwarded-For: 127.0.0.1",
            "Host: 127.0.0.1:" + server.port()
        }) {
            assertTrue(question.contains("\r\n" + line + "\r\n"), question);
        }
        assertTrue(question.contains("\r\nVia: 1.1 "), question);
        assertFalse(question.contains("X-Private"), question);
        assertEquals(2, proxy.counted(Counter.AUTHORIZE_ALLOWED));
        assertEquals(0, proxy.counted(Counter.DENIED_AUTHORIZE));
    }

    @Test
    void onlyTheServerSetsReceivedFields() throws Exception {
        start(
                question -> {
                    if (question.has("Bearer ann")) {
                        allow(question);
                    } else {
                        question.ok("", new byte[0]);
                    }
                },
                config -> config.set(AuthorizeKeys.RECEIVE_FIELDS, List.of("X-User", "X-Role"))
                        .set(AuthorizeKeys.WHEN, "path =~ \"^/[ab]\""));
        String forged = "x_user: root\r\nX-User: root\r\nX-Role: admin\r\n";
        assertEquals(200, proxy.getAndSettle("/a", ANN + forged).status());
        assertEquals(200, proxy.getAndSettle("/b", forged).status());
        assertEquals(200, proxy.getAndSettle("/public", forged).status());
        assertEquals(3, requests.size());
        assertTrue(requests.get(0).contains("\r\nX-User: ann\r\n"), requests.get(0));
        for (String request : requests) {
            assertFalse(request.contains("root") || request.contains("X-Role"), request);
            assertFalse(request.contains("X-Other"), request);
        }
        assertFalse(requests.get(1).contains("X-User"), requests.get(1));
        assertEquals(2, questions.size());
    }

    /** The origin trusts the fields in requests of all rules. */
    @Test
    void clientsDoNotSetReceivedFieldsInAnExemptRule() throws Exception {
        start(AuthorizeOnTheWireTest::allow, config -> config.set(AuthorizeKeys.ENABLED, false)
                .set(AuthorizeKeys.RECEIVE_FIELDS, List.of("X-User")));
        assertEquals(
                200,
                proxy.getAndSettle("/a", ANN + "X-User: root\r\nx_user: root\r\n")
                        .status());
        assertFalse(requests.get(0).contains("root"), requests.get(0));
        assertTrue(requests.get(0).contains(ANN), requests.get(0));
        assertEquals(0, questions.size());
    }

    /** The cache key has all credentials only if Vary names the fields that describe the user. */
    @ParameterizedTest
    @CsvSource({"X-User, Accept, false", "X-Other, Accept, false", "X-User, X-User, true", "X-Other, X-Other, false"})
    void theLeakGuardSeesUsersWhoseCredentialsAreRemoved(String received, String vary, boolean stored)
            throws Exception {
        server = new RawOrigin(question -> question.ok("X-User: ann\r\n", new byte[0]));
        proxy.start(
                request -> request.ok(
                        "Content-Type: text/html\r\nCache-Control: max-age=60\r\nVary: " + vary + "\r\n",
                        RawInput.latin1("page of ann")),
                fresh -> fresh.set(AuthorizeKeys.URL, server.url())
                        .set(AuthorizeKeys.RECEIVE_FIELDS, List.of(received)));
        RawClient.Response page = proxy.getAndSettle("/account/x.css", ANN);
        assertEquals(!stored, page.field("cache-status").endsWith("; detail=leak-guard:type"), page.head());
        assertEquals("page of ann", proxy.get("/account/x.css", ANN).text());
        assertEquals(stored ? 1 : 2, proxy.origin().requests());
    }

    @Test
    void varyByAReceivedFieldSeparatesUsers() throws Exception {
        server = new RawOrigin(question ->
                question.ok("X-User: " + (question.has("Bearer ann") ? "ann" : "bob") + "\r\n", new byte[0]));
        proxy.start(
                request -> request.ok(
                        "Cache-Control: max-age=600\r\nVary: X-User\r\n",
                        RawInput.latin1(request.has("X-User: ann") ? "for ann" : "for bob")),
                fresh -> fresh.set(AuthorizeKeys.URL, server.url())
                        .set(AuthorizeKeys.TTL, Duration.ofMinutes(1))
                        .set(AuthorizeKeys.RECEIVE_FIELDS, List.of("X-User")));
        for (int i = 0; i < 3; i++) {
            assertEquals("for ann", proxy.getAndSettle("/a", ANN).text());
            assertEquals(
                    "for bob",
                    proxy.getAndSettle("/a", "Authorization: Bearer bob\r\n").text());
        }
        assertEquals(2, proxy.origin().requests());
    }

    @Test
    void theOriginGetsAuthorizationIfItIsForwarded() throws Exception {
        start(AuthorizeOnTheWireTest::allow, config -> config.set(AuthorizeKeys.FORWARD, true));
        assertEquals("content 1", proxy.getAndSettle("/a", ANN).text());
        assertEquals("content 2", proxy.getAndSettle("/a", ANN).text());
        assertTrue(requests.get(0).contains(ANN), requests.get(0));
    }

    @Test
    void refusalsReachTheClientWithChallengesAndContent() throws Exception {
        start(
                question -> question.send("HTTP/1.1 401 No\r\nWWW-Authenticate: Bearer realm=\"a\"\r\n"
                        + "WWW-Authenticate: Basic realm=\"b\"\r\nContent-Type: text/html\r\nX-Internal: i\r\n"
                        + "Set-Cookie: csrf=1\r\nContent-Length: 9\r\nETag: \"e\"\r\n\r\n<p>no</p>"),
                config -> config);
        RawClient.Response refused = proxy.get("/a");
        assertEquals(401, refused.status());
        assertEquals("<p>no</p>", refused.text());
        assertEquals("text/html", refused.field("content-type"));
        assertEquals("no-store", refused.field("cache-control"));
        assertEquals("csrf=1", refused.field("set-cookie"));
        assertTrue(refused.head().contains("Bearer realm=\"a\""), refused.head());
        assertTrue(refused.head().contains("Basic realm=\"b\""), refused.head());
        assertFalse(refused.head().contains("X-Internal"), refused.head());
        assertNull(refused.field("etag"));
        assertTrue(refused.field("cache-status").endsWith("detail=authorize:401"), refused.head());
        assertEquals(0, requests.size());
        assertEquals(1, proxy.counted(Counter.DENIED_AUTHORIZE));
        assertEquals(1, proxy.counted(Counter.AUTHORIZE_REFUSED));
    }

    @Test
    void aRefusalWithoutContentGetsALineOfThisProxyAndAllItsChallenges() throws Exception {
        start(
                question -> question.send("HTTP/1.1 401 No\r\nWWW-Authenticate: Bearer\r\n"
                        + "WWW-Authenticate: Basic realm=\"b\"\r\nContent-Type: text/html\r\n"
                        + "Content-Length: 0\r\n\r\n"),
                config -> config);
        RawClient.Response refused = proxy.get("/a");
        assertEquals(401, refused.status());
        assertEquals("text/plain; charset=utf-8", refused.field("content-type"));
        assertTrue(refused.text().startsWith("401 Unauthorized: the authorisation server refuses"), refused.text());
        assertTrue(refused.head().contains("WWW-Authenticate: Bearer\r\n"), refused.head());
        assertTrue(refused.head().contains("WWW-Authenticate: Basic realm=\"b\"\r\n"), refused.head());
    }

    @ParameterizedTest
    @ValueSource(ints = {301, 302, 303, 307, 308})
    void redirectionsToALoginReachTheClient(int status) throws Exception {
        start(
                question -> question.send("HTTP/1.1 " + status
                        + " See\r\nLocation: https://login.example/?to=a\r\nContent-Length: 0\r\n\r\n"),
                config -> config);
        RawClient.Response redirected = proxy.get("/a");
        assertEquals(status, redirected.status());
        assertEquals("https://login.example/?to=a", redirected.field("location"));
        assertEquals("no-store", redirected.field("cache-control"));
        assertEquals(0, requests.size());
    }

    @ParameterizedTest
    @CsvSource({"302, authorize:status-302", "304, authorize:status-304", "500, authorize:status-500"})
    void otherResponsesAreNoDecision(int status, String detail) throws Exception {
        start(
                question -> question.send("HTTP/1.1 " + status + " X\r\nContent-Length: 4\r\n\r\nbody"),
                config -> config.set(AuthorizeKeys.TTL, Duration.ofMinutes(1))
                        .set(AuthorizeKeys.NEGATIVE_TTL, Duration.ofMinutes(1)));
        for (int i = 1; i <= 2; i++) {
            RawClient.Response refused = proxy.get("/a");
            assertEquals(503, refused.status());
            assertTrue(refused.field("cache-status").endsWith("detail=" + detail), refused.head());
            assertFalse(refused.text().contains("body"), refused.text());
            assertEquals(i, questions.size());
        }
        assertEquals(2, proxy.counted(Counter.AUTHORIZE_FAILED));
        assertEquals(0, requests.size());
    }

    @Test
    void anUnreachableServerRefusesOrAllowsAsConfigured() throws Exception {
        start(RawOrigin.Exchange::reset, config -> config.set(AuthorizeKeys.RECEIVE_FIELDS, List.of("X-User")));
        assertEquals(503, proxy.get("/a", "X-User: root\r\n").status());
        proxy.reload(config -> config.set(AuthorizeKeys.URL, server.url())
                .set(AuthorizeKeys.RECEIVE_FIELDS, List.of("X-User"))
                .set(AuthorizeKeys.ON_ERROR, OnError.OPEN));
        assertEquals(200, proxy.getAndSettle("/a", "X-User: root\r\n").status());
        assertFalse(requests.get(0).contains("X-User"), requests.get(0));
    }

    @ParameterizedTest
    @ValueSource(ints = {400, 404, 407, 408, 429, 451, 499})
    void otherClientErrorsAreRefusalsAlsoIfFailuresAllow(int status) throws Exception {
        start(
                question -> question.send("HTTP/1.1 " + status
                        + " X\r\nSet-Cookie: a=b\r\nProxy-Authenticate: Basic\r\nContent-Length: 4\r\n\r\nbody"),
                config -> config.set(AuthorizeKeys.ON_ERROR, OnError.OPEN)
                        .set(AuthorizeKeys.NEGATIVE_TTL, Duration.ofMinutes(1)));
        for (int i = 1; i <= 2; i++) {
            RawClient.Response refused = proxy.get("/a");
            assertEquals(403, refused.status());
            assertTrue(refused.field("cache-status").endsWith("detail=authorize:status-" + status), refused.head());
            assertFalse(refused.text().contains("body"), refused.text());
            assertNull(refused.field("set-cookie"));
            assertNull(refused.field("proxy-authenticate"));
            assertEquals(i, questions.size());
        }
        assertEquals(2, proxy.counted(Counter.AUTHORIZE_REFUSED));
        assertEquals(0, requests.size());
    }

    /** With {@code on_error: open} alone a client could otherwise open the rule by many requests at once. */
    @ParameterizedTest
    @EnumSource(OnError.class)
    void aLimitOfThisProxyHasAKeyOfItsOwn(OnError onLimit) throws Exception {
        CountDownLatch decided = new CountDownLatch(1);
        start(
                question -> {
                    decided.await();
                    allow(question);
                },
                config -> config.set(AuthorizeKeys.ON_ERROR, onLimit == OnError.OPEN ? OnError.CLOSED : OnError.OPEN)
                        .set(AuthorizeKeys.ON_LIMIT, onLimit)
                        .set(ConfigKeys.ORIGIN_CONNECTIONS_MAX, 1)
                        .set(ConfigKeys.ORIGIN_QUEUE_MAX, 0));
        RawClient first = open("GET /a HTTP/1.1\r\nHost: www.example.com\r\n\r\n");
        ProxyExtension.await("a question", () -> questions.size() == 1);
        RawClient.Response second = proxy.get("/b");
        if (onLimit == OnError.OPEN) {
            assertEquals(200, second.status());
        } else {
            assertEquals(503, second.status());
            assertTrue(second.field("cache-status").endsWith("detail=authorize:queue-full"), second.head());
        }
        assertEquals(1, questions.size());
        decided.countDown();
        assertEquals(200, first.response().status());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aRefusalWhoseContentDoesNotArriveIsARefusal(boolean closes) throws Exception {
        start(
                question -> {
                    question.send("HTTP/1.1 401 No\r\nWWW-Authenticate: Bearer\r\nContent-Length: 100\r\n\r\nhalf");
                    if (closes) {
                        question.socket().close();
                    } else {
                        question.awaitClose();
                    }
                },
                config -> config.set(AuthorizeKeys.TIMEOUT, closes ? Duration.ofMinutes(5) : Duration.ofMillis(500))
                        .set(AuthorizeKeys.ON_ERROR, OnError.OPEN));
        RawClient.Response refused = proxy.get("/a");
        assertEquals(401, refused.status());
        assertEquals("Bearer", refused.field("www-authenticate"));
        assertFalse(refused.text().contains("half"), refused.text());
        assertEquals(0, requests.size());
    }

    @Test
    void aServerThatDoesNotAnswerIsGivenUp() throws Exception {
        CountDownLatch over = new CountDownLatch(1);
        start(
                question -> {
                    question.awaitClose();
                    over.countDown();
                },
                config -> config.set(AuthorizeKeys.TIMEOUT, Duration.ofMillis(50)));
        RawClient.Response refused = proxy.get("/a");
        assertEquals(503, refused.status());
        assertTrue(refused.field("cache-status").endsWith("detail=authorize:timeout"), refused.head());
        over.await();
    }

    @Test
    void decisionsAreRememberedForTheirTime() throws Exception {
        start(
                question -> {
                    if (question.has("Bearer ann")) {
                        allow(question);
                    } else {
                        question.send("HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno");
                    }
                },
                config -> config.set(AuthorizeKeys.TTL, Duration.ofSeconds(60))
                        .set(AuthorizeKeys.NEGATIVE_TTL, Duration.ofSeconds(10)));
        for (int i = 0; i < 3; i++) {
            assertEquals(200, proxy.getAndSettle("/a", ANN).status());
            assertEquals(403, proxy.get("/a").status());
        }
        assertEquals(2, questions.size());
        assertEquals(4, proxy.counted(Counter.AUTHORIZE_REMEMBERED));
        proxy.advanceSeconds(11);
        assertEquals(200, proxy.get("/a", ANN).status());
        assertEquals("no", proxy.get("/a").text());
        assertEquals(3, questions.size());
        proxy.advanceSeconds(50);
        assertEquals(200, proxy.get("/a", ANN).status());
        assertEquals(4, questions.size());
        // Another URL has another decision, since the default key is everything that the server gets.
        assertEquals(200, proxy.getAndSettle("/b", ANN).status());
        assertEquals(5, questions.size());
        assertEquals(200, proxy.getAndSettle("/b", ANN + "Cookie: a=b\r\n").status());
        assertEquals(6, questions.size());
    }

    @ParameterizedTest
    @CsvSource({"no-store, 3", "no-cache, 3", "max-age=0, 3", "max-age=600, 1", "private, 1"})
    void cacheControlOfTheServerShortensTheTime(String cacheControl, int asked) throws Exception {
        start(
                question -> question.ok("Cache-Control: " + cacheControl + "\r\n", new byte[0]),
                config -> config.set(AuthorizeKeys.TTL, Duration.ofSeconds(60)));
        for (int i = 0; i < 3; i++) {
            assertEquals(200, proxy.getAndSettle("/a", ANN).status());
        }
        assertEquals(asked, questions.size());
    }

    @Test
    void aRefusalThatSetsACookieIsNotRemembered() throws Exception {
        start(
                question -> question.send(
                        "HTTP/1.1 403 No\r\nSet-Cookie: n=" + question.number() + "\r\nContent-Length: 0\r\n\r\n"),
                config -> config.set(AuthorizeKeys.NEGATIVE_TTL, Duration.ofSeconds(60)));
        assertEquals("n=1", proxy.get("/a").field("set-cookie"));
        assertEquals("n=2", proxy.get("/a").field("set-cookie"));
    }

    /** The server allows Bearer ann and the cookie s=1 only, so no key without them may share its decisions. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "Authorization: Bearer bob\r\nCookie: s=1\r\nX-Api-Key: 1\r\n",
                "Authorization: Bearer ann\r\nCookie: s=2\r\nX-Api-Key: 1\r\n",
                "Authorization: Bearer ann\r\nCookie: s=1\r\nX-Api-Key: 2\r\n",
                "Authorization: Bearer ann\r\n",
                ""
            })
    void aSentFieldIsAlwaysAPartOfTheKey(String other) throws Exception {
        start(
                question -> {
                    if (question.has("Bearer ann") && question.has("Cookie: s=1") && question.has("X-Api-Key: 1")) {
                        allow(question);
                    } else {
                        question.send("HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno");
                    }
                },
                config -> config.set(AuthorizeKeys.TTL, Duration.ofSeconds(60))
                        .set(AuthorizeKeys.SEND_FIELDS, List.of("authorization", "Cookie", "X-Api-Key"))
                        .set(AuthorizeKeys.CACHE_KEY, List.of("host")));
        String whole = ANN + "Cookie: s=1\r\nX-Api-Key: 1\r\n";
        assertEquals(200, proxy.getAndSettle("/a", whole).status());
        assertEquals(200, proxy.getAndSettle("/b", whole).status());
        assertEquals(1, questions.size());
        assertEquals(403, proxy.get("/a", other).status());
    }

    /** Without a lifetime of decisions, the parts of the user's key do not join requests for different URLs. */
    @Test
    void questionsWithAKeyOfTheUserAndNoTtlAreNotCollapsed() throws Exception {
        CountDownLatch decided = new CountDownLatch(1);
        start(
                question -> {
                    decided.await();
                    if (question.has("X-Forwarded-Uri: /a")) {
                        allow(question);
                    } else {
                        question.send("HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno");
                    }
                },
                config -> config.set(AuthorizeKeys.CACHE_KEY, List.of("host"))
                        .set(AuthorizeKeys.NEGATIVE_TTL, Duration.ofSeconds(60)));
        RawClient allowed = open("GET /a HTTP/1.1\r\nHost: www.example.com\r\n\r\n");
        RawClient refused = open("GET /b HTTP/1.1\r\nHost: www.example.com\r\n\r\n");
        ProxyExtension.await("two questions", () -> questions.size() == 2);
        decided.countDown();
        assertEquals(200, allowed.response().status());
        assertEquals(403, refused.response().status());
        // The refusal is remembered nevertheless.
        assertEquals(
                403,
                open("GET /b HTTP/1.1\r\nHost: www.example.com\r\n\r\n")
                        .response()
                        .status());
        assertEquals(2, questions.size());
    }

    @Test
    void theKeyHasOnlyTheNamedPartsAndTheSentFields() throws Exception {
        start(AuthorizeOnTheWireTest::allow, config -> config.set(AuthorizeKeys.TTL, Duration.ofSeconds(60))
                .set(AuthorizeKeys.CACHE_KEY, List.of("host", "cookie[\"s\"]", "request_header['X-K']")));
        assertEquals(200, proxy.getAndSettle("/a", "Cookie: s=1; t=2\r\n").status());
        assertEquals(200, proxy.getAndSettle("/b", "Cookie: t=3; s=1\r\n").status());
        assertEquals(1, questions.size());
        assertEquals(200, proxy.getAndSettle("/b", ANN + "Cookie: s=1\r\n").status());
        assertEquals(2, questions.size());
        assertEquals(200, proxy.getAndSettle("/a", "Cookie: s=2\r\n").status());
        assertEquals(200, proxy.getAndSettle("/a", "Cookie: s=1\r\nX-K: 1\r\n").status());
        assertEquals(200, proxy.getAndSettle("/a", "").status());
        assertEquals(5, questions.size());
    }

    @Test
    void equalRequestsShareOneQuestion() throws Exception {
        CountDownLatch decided = new CountDownLatch(1);
        start(
                question -> {
                    decided.await();
                    allow(question);
                },
                config -> config);
        String request = "GET /a HTTP/1.1\r\nHost: www.example.com\r\n" + ANN + "\r\n";
        List<RawClient> waiting = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            waiting.add(open(request));
        }
        ProxyExtension.await("followers", () -> proxy.counted(Counter.AUTHORIZE_COLLAPSED) == 4);
        decided.countDown();
        for (RawClient client : waiting) {
            assertEquals(200, client.response().status());
        }
        assertEquals(1, questions.size());
    }

    @Test
    void followersOfARefusalThatSetsACookieAskThemselves() throws Exception {
        CountDownLatch decided = new CountDownLatch(1);
        start(
                question -> {
                    decided.await();
                    question.send(
                            "HTTP/1.1 403 No\r\nSet-Cookie: n=" + question.number() + "\r\nContent-Length: 0\r\n\r\n");
                },
                config -> config);
        String request = "GET /a HTTP/1.1\r\nHost: www.example.com\r\n\r\n";
        RawClient first = open(request);
        RawClient second = open(request);
        ProxyExtension.await("a follower", () -> proxy.counted(Counter.AUTHORIZE_COLLAPSED) == 1);
        decided.countDown();
        List<String> cookies = new ArrayList<>(
                List.of(first.response().field("set-cookie"), second.response().field("set-cookie")));
        cookies.sort(null);
        assertEquals(List.of("n=1", "n=2"), cookies);
    }

    @Test
    void contentWaitsForTheDecision() throws Exception {
        CountDownLatch decided = new CountDownLatch(1);
        server = new RawOrigin(question -> {
            questions.add(question.head());
            decided.await();
            allow(question);
        });
        proxy.start(
                request -> {
                    requests.add(request.head() + request.in().readLine());
                    request.ok("", new byte[0]);
                },
                fresh -> fresh.set(AuthorizeKeys.URL, server.url() + "/check"));
        RawClient client =
                open("POST /a HTTP/1.1\r\nHost: www.example.com\r\n" + ANN + "Content-Length: 7\r\n\r\nhello\r\n");
        ProxyExtension.await("a question", () -> !questions.isEmpty());
        assertEquals(0, proxy.origin().requests());
        decided.countDown();
        assertEquals(200, client.response().status());
        assertTrue(requests.get(0).endsWith("hello"), requests.get(0));
        assertTrue(requests.get(0).startsWith("POST /a"), requests.get(0));
        assertTrue(questions.get(0).startsWith("GET /check"), questions.get(0));
        assertTrue(questions.get(0).contains("X-Forwarded-Method: POST"), questions.get(0));
        assertFalse(questions.get(0).contains("Content-Length"), questions.get(0));
    }

    @Test
    void otherMethodsAreSentAsConfigured() throws Exception {
        start(
                AuthorizeOnTheWireTest::allow,
                config -> config.set(AuthorizeKeys.METHOD, AuthorizeConfig.SentMethod.POST));
        assertEquals(200, proxy.getAndSettle("/a").status());
        assertTrue(questions.get(0).startsWith("POST /check?site=shop "), questions.get(0));
        assertTrue(questions.get(0).contains("Content-Length: 0"), questions.get(0));
    }

    @Test
    void aLongRefusalIsReplacedByALine() throws Exception {
        byte[] body = ProxyExtension.content(70_000);
        start(
                question -> {
                    question.send("HTTP/1.1 403 No\r\nContent-Length: " + body.length + "\r\n\r\n");
                    question.send(body);
                },
                config -> config);
        RawClient.Response refused = proxy.get("/a");
        assertEquals(403, refused.status());
        assertTrue(refused.text().startsWith("403 Forbidden: "), refused.text());
    }

    @Test
    void aRefusalOfTheGreatestLengthIsComplete() throws Exception {
        byte[] body = ProxyExtension.content(64 * 1024);
        start(
                question -> {
                    question.send("HTTP/1.1 403 No\r\nContent-Length: " + body.length + "\r\n\r\n");
                    question.send(body);
                },
                config -> config);
        assertArrayEquals(body, proxy.get("/a").content());
    }

    @Test
    void aServerBehindThisProxyIsNoLoop() throws Exception {
        start(AuthorizeOnTheWireTest::allow, config -> config);
        String own = "http://127.0.0.1:" + proxy.address().getPort() + "/check";
        proxy.reload(config -> config.set(AuthorizeKeys.URL, own));
        RawClient.Response refused = proxy.get("/a");
        assertEquals(503, refused.status());
        assertTrue(refused.field("cache-status").endsWith("detail=authorize:status-508"), refused.head());
    }
}
