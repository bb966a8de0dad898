package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.purge.InvalidationScope;
import io.millrace.proxy.spi.Answer;
import io.millrace.proxy.spi.Attribute;
import io.millrace.proxy.spi.Authorizer;
import io.millrace.proxy.spi.Continuation;
import io.millrace.proxy.spi.DeliverHook;
import io.millrace.proxy.spi.DeliveredResponse;
import io.millrace.proxy.spi.OriginRequestHook;
import io.millrace.proxy.spi.OriginRequestView;
import io.millrace.proxy.spi.OriginResponseHook;
import io.millrace.proxy.spi.OriginResponseView;
import io.millrace.proxy.spi.RequestHook;
import io.millrace.proxy.spi.RequestView;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the hooks of extensions with real clients: HTTP/1.1 with and without TLS, and HTTP/2. */
class ExtensionsOnTheWireTest extends LaneFixture {
    private static final String FRESH = "Cache-Control: max-age=600\r\nETag: \"e\"\r\nX-Origin: o\r\n";

    private static void answer(RawOrigin.Exchange request) throws IOException {
        if (request.has(" /echo")) {
            request.ok("Cache-Control: no-store\r\n", RawInput.latin1(request.head()));
        } else if (request.has("If-None-Match: \"e\"")) {
            request.send(
                    "HTTP/1.1 304 Not Modified\r\nETag: \"e\"\r\nCache-Control: max-age=600\r\nX-Origin: p\r\n\r\n");
        } else if (request.has(" /bare")) {
            request.ok("", RawInput.latin1("bare " + request.number()));
        } else {
            request.ok(FRESH, RawInput.latin1("content " + request.number()));
        }
    }

    private void start(TestExtension... extensions) throws IOException {
        for (TestExtension extension : extensions) {
            proxy.with(extension.entry());
        }
        start(ExtensionsOnTheWireTest::answer, config -> config);
    }

    // Delivery

    private static final class Marking extends TestExtension implements DeliverHook {
        @Override
        public void deliver(RequestView request, DeliveredResponse response) {
            response.fields().set("X-Result", response.cacheResult() + " " + response.status());
            response.fields().add("X-Agent", String.valueOf(request.fields().get("User-Agent")));
            response.fields().remove("X-Origin");
        }
    }

    @ParameterizedTest
    @EnumSource(Lane.class)
    void deliverHookChangesTheHeadOfEachClient(Lane lane) throws Exception {
        start(new Marking());
        Received miss = ask(lane, "GET", "/a", "User-Agent", "one");
        assertEquals("uri-miss 200", miss.field("x-result"));
        assertEquals("one", miss.field("x-agent"));
        assertNull(miss.field("x-origin"));
        proxy.settle();
        Received hit = ask(lane, "GET", "/a", "User-Agent", "two");
        assertEquals("hit 200", hit.field("x-result"));
        assertEquals("two", hit.field("x-agent"));
        assertEquals("content 1", hit.text());
        assertNull(hit.field("x-origin"));
        Received head = ask(lane, "HEAD", "/a");
        assertEquals("null", head.field("x-agent"));
        Received same = ask(lane, "GET", "/a", "If-None-Match", "\"e\"");
        assertEquals("hit 304", same.field("x-result"));
        assertEquals(1, proxy.origin().requests());
    }

    @Test
    void secondExtensionSeesTheChangesOfTheFirst() throws Exception {
        start(new Marking(), new Named("second") {
            @Override
            public void deliver(RequestView request, DeliveredResponse response) {
                String seen = response.fields().get("X-Result");
                response.fields().set("X-Result", seen + " again");
                response.fields().add("X-Seen", String.valueOf(response.fields().contains("X-Origin")));
            }
        });
        Received miss = ask(Lane.CLEAR, "GET", "/a");
        assertEquals("uri-miss 200 again", miss.field("x-result"));
        assertEquals("false", miss.field("x-seen"));
        assertFalse(miss.head().contains("uri-miss 200\r\n"), miss::head);
    }

    /** An extension that sets constant fields, and counts calls of its hook. */
    private static class Constant extends TestExtension implements DeliverHook {
        private final Map<String, String> fields;
        final AtomicInteger calls = new AtomicInteger();

        Constant(Map<String, String> fields) {
            this.fields = fields;
        }

        @Override
        public Map<String, String> constantFields() {
            return fields;
        }

        @Override
        public void deliver(RequestView request, DeliveredResponse response) {
            calls.incrementAndGet();
        }
    }

    @ParameterizedTest
    @EnumSource(Lane.class)
    void constantFieldsAreSetWithoutCalls(Lane lane) throws Exception {
        Constant extension = new Constant(Map.of("X-Origin", "e", "X-Added", "more", "Cache-Status", "own"));
        start(extension);
        Received miss = ask(lane, "GET", "/a");
        proxy.settle();
        Received hit = ask(lane, "GET", "/a");
        Received head = ask(lane, "HEAD", "/a");
        Received same = ask(lane, "GET", "/a", "If-None-Match", "\"e\"");
        assertEquals(304, same.status());
        for (Received each : List.of(miss, hit, head, same)) {
            assertEquals("e", each.field("x-origin"), each::head);
            assertEquals("more", each.field("x-added"), each::head);
            assertEquals("own", each.field("cache-status"), each::head);
        }
        assertEquals("content 1", hit.text());
        assertEquals(0, extension.calls.get());
        assertEquals(1, proxy.origin().requests());
    }

    @Test
    void constantFieldsKeepTheFastLane() throws Exception {
        start(new Constant(Map.of("X-Added", "more")));
        proxy.getAndSettle("/a");
        long before = proxy.counted(Counter.FAST_LANE_ANSWERED);
        for (int i = 0; i < 5; i++) {
            assertEquals("more", ask(Lane.CLEAR, "GET", "/a").field("x-added"));
        }
        boolean lane = proxy.proxy().config().worker().fastLane()
                && io.millrace.proxy.net.Transport.choose("auto").hasPlainSockets();
        assertEquals(lane ? 5 : 0, proxy.counted(Counter.FAST_LANE_ANSWERED) - before);
    }

    /** The order of the extensions is kept, with constant fields before and after a hook. */
    @Test
    void constantFieldsHaveTheirPlaceAmongOtherHooks() throws Exception {
        start(
                new Constant(Map.of("X-Order", "first", "X-Origin", "one")) {
                    @Override
                    public String name() {
                        return "first";
                    }
                },
                new Named("second") {
                    @Override
                    public void deliver(RequestView request, DeliveredResponse response) {
                        response.fields()
                                .add("X-Seen", String.valueOf(response.fields().get("X-Order")));
                        response.fields().add("X-Last", "second");
                    }
                },
                new Constant(Map.of("X-Last", "third")));
        for (int i = 0; i < 2; i++) {
            Received answer = ask(Lane.CLEAR, "GET", "/a");
            assertEquals("first", answer.field("x-order"));
            assertEquals("one", answer.field("x-origin"));
            assertEquals("first", answer.field("x-seen"));
            assertEquals("third", answer.field("x-last"));
            assertFalse(answer.head().toLowerCase(Locale.ROOT).contains("x-last: second"), answer::head);
            proxy.settle();
        }
    }

    @Test
    void faultyConstantFieldsFailTheStart() {
        for (Map<String, String> faulty :
                List.of(Map.of("Content-Length", "1"), Map.of("no name", "x"), Map.of("X-A", "a\r\nb"))) {
            Constant extension = new Constant(faulty);
            IOException refused = assertThrows(IOException.class, () -> {
                try (ProxyServer started =
                        ProxyServer.builder().extension(extension.entry()).build()) {
                    assertNotNull(started);
                }
            });
            assertTrue(
                    String.valueOf(refused.getMessage()).startsWith("extension test: constantFields: "),
                    refused::getMessage);
            assertTrue(extension.isClosed());
        }
    }

    private abstract static class Named extends TestExtension implements DeliverHook {
        private final String name;

        Named(String name) {
            this.name = name;
        }

        @Override
        public String name() {
            return name;
        }
    }

    @Test
    void extensionIsOpenedOnceAndClosedWithTheProxy() throws Exception {
        Marking extension = new Marking();
        start(extension);
        assertEquals("test", extension.context().name());
        assertFalse(extension.isClosed());
        proxy.proxy().close();
        assertTrue(extension.isClosed());
    }

    @Test
    void viewsEndWithTheCall() throws Exception {
        CopyOnWriteArrayList<Object> views = new CopyOnWriteArrayList<>();
        class Keeping extends TestExtension implements DeliverHook {
            @Override
            public void deliver(RequestView request, DeliveredResponse response) {
                views.add(request);
                views.add(response);
            }
        }
        start(new Keeping());
        ask(Lane.CLEAR, "GET", "/a");
        RequestView request = (RequestView) views.get(0);
        DeliveredResponse response = (DeliveredResponse) views.get(1);
        assertThrows(IllegalStateException.class, request::path);
        assertThrows(IllegalStateException.class, response::status);
    }

    // Received requests

    private static final class Answering extends TestExtension implements RequestHook {
        final List<String> seen = new CopyOnWriteArrayList<>();

        @Override
        public void requestReceived(RequestView request, Reply reply) {
            seen.add(request.method() + " " + request.scheme() + " " + request.host() + " " + request.path() + " "
                    + request.query() + " " + request.clientAddress().getHostAddress() + " " + request.rule());
            if (request.path().startsWith("/own")) {
                reply.answer(Answer.status(418)
                        .field("X-Own", "yes")
                        .field("Cache-Control", "max-age=5")
                        .body("tea")
                        .build());
            } else if (request.path().equals("/empty")) {
                reply.answer(Answer.status(204).build());
            } else {
                reply.proceed();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Lane.class)
    void requestHookAnswersOrProceeds(Lane lane) throws Exception {
        Answering extension = new Answering();
        start(extension);
        Received own = ask(lane, "GET", "/own?a=b");
        assertEquals(418, own.status());
        assertEquals("tea", own.text());
        assertEquals("yes", own.field("x-own"));
        assertEquals("max-age=5", own.field("cache-control"));
        assertEquals("text/plain; charset=utf-8", own.field("content-type"));
        assertEquals(0, proxy.origin().requests());
        String scheme = lane == Lane.TLS ? "https" : "http";
        assertEquals("GET " + scheme + " test.example /own a=b 127.0.0.1 /", extension.seen.get(0));
        assertEquals(204, ask(lane, "GET", "/empty").status());
        Received head = ask(lane, "HEAD", "/own");
        assertEquals(418, head.status());
        assertEquals("3", head.field("content-length"));
        assertEquals("content 1", ask(lane, "GET", "/a").text());
        proxy.settle();
        assertEquals("content 1", ask(lane, "GET", "/a").text());
        assertEquals(5, extension.seen.size());
    }

    @Test
    void answerToARequestWithContentEndsTheConnection() throws Exception {
        start(new Answering());
        RawClient client = proxy.client();
        client.send("POST /own HTTP/1.1\r\nHost: test.example\r\nContent-Length: 5\r\n\r\nab");
        RawClient.Response response = client.response();
        assertEquals(418, response.status());
        assertEquals("close", response.field("connection"));
    }

    private static final class Waiting extends TestExtension implements RequestHook {
        final CountDownLatch go = new CountDownLatch(1);
        final AtomicInteger called = new AtomicInteger();

        @Override
        public void requestReceived(RequestView request, Reply reply) {
            called.incrementAndGet();
            String path = request.path();
            context().executor().execute(() -> {
                try {
                    assertTrue(go.await(RawClient.WAIT_MILLIS, TimeUnit.MILLISECONDS));
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
                if (path.equals("/own")) {
                    reply.answer(Answer.status(200).body("own").build());
                } else {
                    reply.proceed();
                }
            });
        }
    }

    @ParameterizedTest
    @EnumSource(Lane.class)
    void requestWaitsForAnAsynchronousHook(Lane lane) throws Exception {
        Waiting extension = new Waiting();
        start(extension);
        extension.go.countDown();
        assertEquals("own", ask(lane, "GET", "/own").text());
        assertEquals("content 1", ask(lane, "GET", "/a").text());
        proxy.settle();
        assertEquals("content 1", ask(lane, "GET", "/a").text());
        assertEquals(3, extension.called.get());
        assertEquals(1, proxy.origin().requests());
    }

    @Test
    void contentOfAWaitingRequestReachesTheOrigin() throws Exception {
        Waiting extension = new Waiting();
        proxy.with(extension.entry());
        start(request -> request.ok("", request.in().read(5)), config -> config);
        RawClient client = proxy.client();
        client.send("POST /a HTTP/1.1\r\nHost: test.example\r\nContent-Length: 5\r\n\r\nabc");
        ProxyExtension.await("the call", () -> extension.called.get() == 1);
        client.send("de");
        extension.go.countDown();
        assertEquals("abcde", client.response().text());
    }

    @Test
    void clientThatLeavesWhileAHookRunsEndsItsRequest() throws Exception {
        Waiting extension = new Waiting();
        start(extension);
        RawClient client = new RawClient(proxy.address());
        client.get("/a");
        ProxyExtension.await("the call", () -> extension.called.get() == 1);
        client.reset();
        ProxyExtension.await("the end of the client", () -> proxy.counted(Counter.CLIENT_FAILURES_ABORTED) == 1);
        extension.go.countDown();
        assertEquals("content 1", proxy.get("/b").text());
        assertEquals(1, proxy.origin().requests());
    }

    private static final class Refusing extends TestExtension implements Authorizer {
        @Override
        public void authorize(RequestView request, RequestHook.Reply reply) {
            if (request.fields().contains("X-Token")) {
                reply.proceed();
            } else {
                reply.answer(Answer.status(401)
                        .field("WWW-Authenticate", "Bearer")
                        .body("token needed")
                        .build());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Lane.class)
    void authorizerRefusesHitsAndMisses(Lane lane) throws Exception {
        start(new Refusing());
        Received refused = ask(lane, "GET", "/a");
        assertEquals(401, refused.status());
        assertEquals("Bearer", refused.field("www-authenticate"));
        assertTrue(refused.field("cache-status").contains("detail=extension:test"), refused::head);
        assertEquals(200, ask(lane, "GET", "/a", "X-Token", "1").status());
        proxy.settle();
        assertEquals(401, ask(lane, "GET", "/a").status());
        assertEquals("content 1", ask(lane, "GET", "/a", "X-Token", "1").text());
        assertEquals(1, proxy.origin().requests());
        assertEquals(2, proxy.counted(Counter.DENIED_EXTENSION));
    }

    // Requests to the origin

    private static final Attribute<String> USER = Attribute.of("user");

    private static final class Signing extends TestExtension implements RequestHook, OriginRequestHook, DeliverHook {
        @Override
        public void requestReceived(RequestView request, Reply reply) {
            context().executor().execute(() -> reply.proceed(view -> view.set(USER, "bob")));
        }

        @Override
        public void originRequest(OriginRequestView origin, Continuation<OriginRequestView> continuation) {
            String user = origin.request().get(USER);
            origin.fields().set("X-User", String.valueOf(user));
            origin.fields().remove("X-Secret");
            if (origin.target().endsWith("?later")) {
                context()
                        .executor()
                        .execute(() -> continuation.proceed(view ->
                                view.fields().set("X-Later", view.fields().get("X-User") + " " + view.target())));
            } else {
                continuation.proceed();
            }
        }

        @Override
        public void deliver(RequestView request, DeliveredResponse response) {
            response.fields().set("X-User", String.valueOf(request.get(USER)));
        }
    }

    @ParameterizedTest
    @EnumSource(Lane.class)
    void originRequestHookChangesTheRequestNowOrLater(Lane lane) throws Exception {
        start(new Signing());
        Received now = ask(lane, "GET", "/echo", "X-Secret", "s");
        assertTrue(now.text().contains("\r\nX-User: bob\r\n"), now::text);
        assertFalse(now.text().toLowerCase(Locale.ROOT).contains("x-secret"), now::text);
        assertEquals("bob", now.field("x-user"));
        Received later = ask(lane, "GET", "/echo?later");
        assertTrue(later.text().contains("\r\nX-User: bob\r\n"), later::text);
        assertTrue(later.text().contains("\r\nX-Later: bob /echo?later\r\n"), later::text);
    }

    @Test
    void originRequestHookIsCalledForValidationsToo() throws Exception {
        start(new Signing());
        ask(Lane.CLEAR, "GET", "/a");
        proxy.settle();
        proxy.advanceSeconds(700);
        Received validated = ask(Lane.CLEAR, "GET", "/a");
        assertEquals("content 1", validated.text());
        assertEquals("p", validated.field("x-origin"));
        assertEquals(2, proxy.origin().requests());
    }

    // Responses of the origin

    private static final class Storing extends TestExtension implements OriginResponseHook {
        final AtomicInteger called = new AtomicInteger();

        @Override
        public void originResponse(OriginResponseView response) {
            called.incrementAndGet();
            response.fields().set("X-Stored", response.status() + " " + response.url());
            response.fields().remove("X-Origin");
            if (response.url().contains("/bare")) {
                response.ttl(Duration.ofSeconds(100));
                response.tag("bare-tag");
            } else if (response.url().endsWith("/once")) {
                response.doNotStore();
            } else if (response.url().endsWith("/short")) {
                response.ttl(Duration.ofSeconds(5));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Lane.class)
    void originResponseHookChangesTheStoredResponse(Lane lane) throws Exception {
        Storing extension = new Storing();
        start(extension);
        String url = (lane == Lane.TLS ? "https" : "http") + "://test.example";
        assertEquals("200 " + url + "/a", ask(lane, "GET", "/a").field("x-stored"));
        proxy.settle();
        Received hit = ask(lane, "GET", "/a");
        assertEquals("200 " + url + "/a", hit.field("x-stored"));
        assertNull(hit.field("x-origin"));
        assertEquals(1, extension.called.get());
    }

    @Test
    void ttlOfAnExtensionReplacesThatOfTheResponse() throws Exception {
        Storing extension = new Storing();
        start(extension);
        proxy.getAndSettle("/bare");
        proxy.getAndSettle("/short");
        assertEquals("bare 1", proxy.get("/bare").text());
        assertTrue(proxy.get("/bare").field("cache-status").contains("ttl=100"));
        proxy.advanceSeconds(6);
        assertEquals("bare 1", proxy.get("/bare").text());
        // The validated response gets the lifetime again.
        RawClient.Response validated = proxy.getAndSettle("/short");
        assertEquals("content 2", validated.text());
        assertNull(validated.field("x-origin"));
        assertEquals("200 http://test.example/short", validated.field("x-stored"));
        assertEquals(3, proxy.origin().requests());
        proxy.advanceSeconds(4);
        assertEquals(200, proxy.get("/short").status());
        assertEquals(3, proxy.origin().requests());
        proxy.advanceSeconds(2);
        assertEquals(200, proxy.getAndSettle("/short").status());
        assertEquals(4, proxy.origin().requests());
        proxy.advanceSeconds(100);
        assertEquals("bare 5", proxy.get("/bare").text());
    }

    @Test
    void tagOfAnExtensionIsPurged() throws Exception {
        start(new Storing());
        proxy.getAndSettle("/bare");
        purgeTag("bare-tag");
        assertEquals("bare 2", proxy.get("/bare").text());
    }

    private void purgeTag(String tag) throws Exception {
        RawClient.Response purged = proxy.get("/bare");
        assertEquals("bare 1", purged.text());
        CountDownLatch done = new CountDownLatch(1);
        proxy.proxy()
                .shared()
                .invalidator()
                .invalidate(
                        List.of(InvalidationScope.tag(RawInput.latin1(tag), null)),
                        false,
                        Runnable::run,
                        (entries, failure) -> done.countDown());
        assertTrue(done.await(RawClient.WAIT_MILLIS, TimeUnit.MILLISECONDS));
    }

    @Test
    void responseThatAnExtensionForbidsIsNotStored() throws Exception {
        start(new Storing());
        assertEquals("content 1", proxy.getAndSettle("/once").text());
        assertEquals("content 2", proxy.getAndSettle("/once").text());
    }

    @Test
    void clientsThatShareAFetchShareOneCallOfTheResponseHook() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        Storing storing = new Storing();
        Named marking = new Named("marking") {
            @Override
            public void deliver(RequestView request, DeliveredResponse response) {
                response.fields().set("X-Agent", String.valueOf(request.fields().get("User-Agent")));
            }
        };
        proxy.with(storing.entry()).with(marking.entry());
        start(
                request -> {
                    go.await();
                    answer(request);
                },
                config -> config.set("worker.event_loops", "2"));
        RawClient first = proxy.client().get("/a", "User-Agent: one\r\n");
        ProxyExtension.await("a request at the origin", () -> proxy.origin().requests() == 1);
        RawClient second = proxy.client().get("/a", "User-Agent: two\r\n");
        proxy.awaitFollowers(1);
        go.countDown();
        RawClient.Response one = first.response();
        RawClient.Response two = second.response();
        assertEquals("one", one.field("x-agent"));
        assertEquals("two", two.field("x-agent"));
        assertNotNull(one.field("x-stored"));
        assertEquals(one.field("x-stored"), two.field("x-stored"));
        assertEquals(1, storing.called.get());
        assertEquals(1, proxy.origin().requests());
    }
}
