package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.cache.ExplainSource;
import io.millrace.proxy.admin.data.RequestExplanation;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigTree;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.OnError;
import io.millrace.proxy.extension.ExtensionEntry;
import io.millrace.proxy.extension.ExtensionException;
import io.millrace.proxy.extension.FailureReason;
import io.millrace.proxy.extension.Hook;
import io.millrace.proxy.extension.LoadedExtension;
import io.millrace.proxy.extension.config.SectionConfig;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.event.Event;
import io.millrace.proxy.observe.event.EventKind;
import io.millrace.proxy.spi.Answer;
import io.millrace.proxy.spi.Authorizer;
import io.millrace.proxy.spi.BodyTransformHook;
import io.millrace.proxy.spi.CacheKeyHook;
import io.millrace.proxy.spi.Continuation;
import io.millrace.proxy.spi.DeliverHook;
import io.millrace.proxy.spi.DeliveredResponse;
import io.millrace.proxy.spi.ExtensionContext;
import io.millrace.proxy.spi.LookupHook;
import io.millrace.proxy.spi.OriginRequestHook;
import io.millrace.proxy.spi.OriginRequestView;
import io.millrace.proxy.spi.OriginResolver;
import io.millrace.proxy.spi.OriginResponseHook;
import io.millrace.proxy.spi.OriginResponseView;
import io.millrace.proxy.spi.RequestHook;
import io.millrace.proxy.spi.RequestView;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests extensions that fail: exceptions, limits, deadlines, repeated results, blocked event loops, and the open of extensions. */
class ExtensionFailuresTest {
    private static final String FRESH = "Cache-Control: max-age=600\r\nETag: \"e\"\r\n";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private static IllegalStateException fault() {
        return new IllegalStateException("the fault of the test");
    }

    private static final class AuthorizeFault extends TestExtension implements Authorizer {
        @Override
        public void authorize(RequestView request, RequestHook.Reply reply) {
            reply.proceed();
            throw fault();
        }
    }

    private static final class RequestFault extends TestExtension implements RequestHook {
        @Override
        public void requestReceived(RequestView request, Reply reply) {
            context().executor().execute(() -> reply.fail(fault()));
        }
    }

    private static final class ResolveFault extends TestExtension implements OriginResolver {
        @Override
        public URI resolve(RequestView request) {
            return URI.create("ftp://no.example/");
        }
    }

    private static final class KeyFault extends TestExtension implements CacheKeyHook {
        @Override
        public void cacheKey(RequestView request, Parts parts) {
            throw fault();
        }
    }

    private static final class LookupFault extends TestExtension implements LookupHook {
        @Override
        public Action lookupDone(RequestView request, State state) {
            throw fault();
        }
    }

    private static final class OriginRequestFault extends TestExtension implements OriginRequestHook {
        @Override
        public void originRequest(OriginRequestView request, Continuation<OriginRequestView> continuation) {
            request.fields().set("Content-Length", "7");
        }
    }

    private static final class OriginResponseFault extends TestExtension implements OriginResponseHook {
        @Override
        public void originResponse(OriginResponseView response) {
            response.fields().set("X-Half", "done");
            throw new StackOverflowError("the fault of the test");
        }
    }

    private static final class BodyFault extends TestExtension implements BodyTransformHook {
        @Override
        public Transform bodyTransform(OriginResponseView response) {
            throw fault();
        }
    }

    private static final class DeliverFault extends TestExtension implements DeliverHook {
        @Override
        public void deliver(RequestView request, DeliveredResponse response) {
            response.fields().set("X-Half", "done");
            throw fault();
        }
    }

    /** Each hook, and whether its failure refuses requests by default, and whether the response is stored. */
    static Stream<Arguments> faults() {
        return Stream.of(
                fault(AuthorizeFault::new, Hook.AUTHORIZE, true, true),
                fault(RequestFault::new, Hook.REQUEST_RECEIVED, true, true),
                fault(ResolveFault::new, Hook.ORIGIN_RESOLVE, false, true),
                fault(KeyFault::new, Hook.CACHE_KEY, false, false),
                fault(LookupFault::new, Hook.LOOKUP_DONE, false, true),
                fault(OriginRequestFault::new, Hook.ORIGIN_REQUEST, false, true),
                fault(OriginResponseFault::new, Hook.ORIGIN_RESPONSE, false, false),
                fault(BodyFault::new, Hook.BODY_TRANSFORM, false, false),
                fault(DeliverFault::new, Hook.DELIVER, false, true));
    }

    private static Arguments fault(Supplier<TestExtension> made, Hook hook, boolean closes, boolean stores) {
        return Arguments.of(made, hook, closes, stores);
    }

    private LoadedExtension loaded() {
        return proxy.proxy().extensions().all().get(0);
    }

    private void start(ExtensionEntry entry) throws IOException {
        proxy.with(entry).start(request -> request.ok(FRESH, RawInput.latin1("content " + request.number())));
    }

    @ParameterizedTest
    @MethodSource("faults")
    void faultHasTheDefaultEffectOfItsHook(Supplier<TestExtension> made, Hook hook, boolean closes, boolean stores)
            throws Exception {
        start(made.get().entry());
        RawClient.Response first = proxy.getAndSettle("/a");
        assertEquals(closes ? 503 : 200, first.status(), first::head);
        assertNull(first.field("x-half"));
        assertEquals(1, loaded().figures(hook).failures(FailureReason.EXCEPTION));
        assertTrue(loaded().lastFailure().startsWith(hook.label() + ": exception"), loaded()::lastFailure);
        if (hook != Hook.DELIVER) {
            assertTrue(first.field("cache-status").contains("extension:test"), first::head);
        }
        if (!closes) {
            assertEquals(stores ? "content 1" : "content 2", proxy.get("/a").text());
        } else {
            assertEquals(0, proxy.origin().requests());
            assertEquals(1, proxy.counted(Counter.DENIED_EXTENSION_FAILED));
        }
    }

    @ParameterizedTest
    @MethodSource("faults")
    void faultWithOnErrorOpenLetsTheRequestPass(Supplier<TestExtension> made, Hook hook, boolean closes, boolean stores)
            throws Exception {
        start(made.get().entry(OnError.OPEN));
        assertEquals("content 1", proxy.getAndSettle("/a").text());
        assertEquals(stores ? "content 1" : "content 2", proxy.get("/a").text());
    }

    @ParameterizedTest
    @MethodSource("faults")
    void faultWithOnErrorClosedRefusesTheRequest(
            Supplier<TestExtension> made, Hook hook, boolean closes, boolean stores) throws Exception {
        start(made.get().entry(OnError.CLOSED));
        assertEquals(hook == Hook.DELIVER ? 200 : 503, proxy.getAndSettle("/a").status());
        proxy.settle();
        assertEquals(hook == Hook.DELIVER ? 200 : 503, proxy.get("/a").status());
    }

    private static final class Silent extends TestExtension implements RequestHook {
        final List<Reply> replies = new CopyOnWriteArrayList<>();

        @Override
        public void requestReceived(RequestView request, Reply reply) {
            replies.add(reply);
        }
    }

    @Test
    void hookWithoutResultFailsAtItsDeadlineAndALateResultIsCounted() throws Exception {
        Silent extension = new Silent();
        start(extension.entryWithDeadline(50));
        assertEquals(503, proxy.get("/a").status());
        assertEquals(1, loaded().figures(Hook.REQUEST_RECEIVED).failures(FailureReason.DEADLINE));
        extension.replies.get(0).answer(Answer.status(200).build());
        assertEquals(1, loaded().figures(Hook.REQUEST_RECEIVED).failures(FailureReason.REPEATED));
        assertEquals(0, proxy.origin().requests());
    }

    private static final class Twice extends TestExtension implements RequestHook {
        @Override
        public void requestReceived(RequestView request, Reply reply) {
            reply.answer(Answer.status(201).build());
            reply.answer(Answer.status(202).build());
            reply.proceed();
        }
    }

    @Test
    void firstOfSeveralResultsCounts() throws Exception {
        start(new Twice().entry());
        assertEquals(201, proxy.get("/a").status());
        assertEquals(2, loaded().figures(Hook.REQUEST_RECEIVED).failures(FailureReason.REPEATED));
    }

    private static final class BadAnswer extends TestExtension implements RequestHook {
        @Override
        public void requestReceived(RequestView request, Reply reply) {
            reply.answer(Answer.status(200).field("X-Bad", "a\r\nX-Other: b").build());
        }
    }

    @Test
    void answerWithALineBreakInAFieldIsAFailure() throws Exception {
        start(new BadAnswer().entry());
        RawClient.Response refused = proxy.get("/a");
        assertEquals(503, refused.status());
        assertNull(refused.field("x-other"));
    }

    private static final class Greedy extends TestExtension implements DeliverHook {
        @Override
        public void deliver(RequestView request, DeliveredResponse response) {
            int lines = request.path().equals("/lines") ? 65 : 1;
            String value = "v".repeat(request.path().equals("/bytes") ? 17_000 : 1);
            for (int i = 0; i < lines; i++) {
                response.fields().add("X-More", value);
            }
        }
    }

    @Test
    void tooManyFieldsOrBytesAreAFailure() throws Exception {
        start(new Greedy().entry());
        assertNull(proxy.get("/lines").field("x-more"));
        assertNull(proxy.get("/bytes").field("x-more"));
        assertEquals("v", proxy.get("/few").field("x-more"));
        assertEquals(2, loaded().figures(Hook.DELIVER).failures(FailureReason.LIMIT));
    }

    private static final class Truncating extends TestExtension implements BodyTransformHook {
        @Override
        public Transform bodyTransform(OriginResponseView response) {
            return new Transform() {
                @Override
                public void chunk(ByteBuffer in, Output out) {
                    out.write(in);
                }

                @Override
                public void end(Output out) {
                    throw fault();
                }
            };
        }
    }

    @Test
    void transformationThatFailsTruncatesTheResponseAndStoresNothing() throws Exception {
        start(new Truncating().entry());
        RawClient client = proxy.client().get("/a");
        assertThrows(IOException.class, client::response);
        proxy.settle();
        assertThrows(IOException.class, () -> proxy.client().get("/a").response());
        assertEquals(2, proxy.origin().requests());
        assertEquals(2, loaded().figures(Hook.BODY_TRANSFORM).failures(FailureReason.EXCEPTION));
    }

    @Test
    void manyFailuresInSuccessionOpenTheCircuit() throws Exception {
        start(new DeliverFault().entry());
        for (int i = 0; i < 25; i++) {
            assertEquals(200, proxy.get("/a").status());
        }
        assertTrue(loaded().isCircuitOpen());
        assertEquals(20, loaded().figures(Hook.DELIVER).failures(FailureReason.EXCEPTION));
        assertEquals(5, loaded().figures(Hook.DELIVER).failures(FailureReason.CIRCUIT_OPEN));
        assertEquals(20, loaded().figures(Hook.DELIVER).calls());
        String metrics = proxy.proxy().metricsText();
        assertTrue(metrics.contains("millrace_extension_circuit_open{application=\"millrace\",extension=\"test\"} 1"));
        assertTrue(metrics.contains("hook=\"deliver\",reason=\"exception\"} 20"), metrics);
    }

    private static class Delivering extends TestExtension implements DeliverHook {
        @Override
        public void deliver(RequestView request, DeliveredResponse response) {
            response.fields().set("X-Delivered", "yes");
        }
    }

    private static final class RequestFaultDelivering extends Delivering implements RequestHook {
        @Override
        public void requestReceived(RequestView request, Reply reply) {
            throw fault();
        }
    }

    private String explained() throws Exception {
        return new RequestExplanation(new ServerView(proxy.proxy()))
                        .explain(new ExplainSource.Question(
                                "http://test.example/a", "GET", List.of(), "127.0.0.1", 0, false))
                        .toCompletableFuture()
                        .get()
                        .steps()
                        .stream()
                        .filter(step -> step.name().equals("extensions"))
                        .findFirst()
                        .orElseThrow()
                        .text();
    }

    /** Answers before the hooks of a request have no rule or no permission, so no extension sees them. */
    @Test
    void deliverHookIsCalledForErrorsOfPermittedRequestsOnly() throws Exception {
        proxy.with(new Delivering().entry())
                .withoutRules()
                .start(
                        request -> request.ok(FRESH, RawInput.latin1("content")),
                        config -> config.map(
                                "http://test.example/post/",
                                "http://127.0.0.1:1/",
                                ConfigValues.builder()
                                        .set(ConfigKeys.METHODS, List.of("POST"))
                                        .build()));
        RawClient.Response unmapped = proxy.get("/a");
        assertEquals(404, unmapped.status());
        assertNull(unmapped.field("x-delivered"));
        RawClient.Response refused = proxy.get("/post/a");
        assertEquals(405, refused.status());
        assertNull(refused.field("x-delivered"));
        try (RawClient client = proxy.client()) {
            client.send("POST /post/a HTTP/1.1\r\nHost: test.example\r\nContent-Length: 0\r\n\r\n");
            RawClient.Response failed = client.response();
            assertEquals(502, failed.status());
            assertEquals("yes", failed.field("x-delivered"));
        }
    }

    @Test
    void explainNamesOnlyTheHooksWhoseCircuitIsOpen() throws Exception {
        start(new RequestFaultDelivering().entry());
        assertEquals("test is asked: request_received, deliver; this dry run calls only cache_key", explained());
        for (int i = 0; i < 20; i++) {
            RawClient.Response refused = proxy.get("/a");
            assertEquals(503, refused.status());
            assertEquals("yes", refused.field("x-delivered"));
        }
        assertEquals(
                "test is asked: deliver; test is not asked now, because many calls failed: request_received;"
                        + " this dry run calls only cache_key",
                explained());
    }

    @Test
    void openCircuitOfAnAuthorizerRefusesRequests() throws Exception {
        start(new AuthorizeFault().entry());
        for (int i = 0; i < 21; i++) {
            assertEquals(503, proxy.get("/a").status());
        }
        assertEquals(1, loaded().figures(Hook.AUTHORIZE).failures(FailureReason.CIRCUIT_OPEN));
        assertEquals(0, proxy.origin().requests());
    }

    private static final class Blocking extends TestExtension implements DeliverHook {
        final CountDownLatch go = new CountDownLatch(1);

        @Override
        public void deliver(RequestView request, DeliveredResponse response) {
            while (go.getCount() > 0) {
                Thread.onSpinWait();
            }
        }
    }

    @Test
    void hookThatBlocksItsEventLoopIsNamed() throws Exception {
        Blocking extension = new Blocking();
        List<Event> events = new CopyOnWriteArrayList<>();
        try (RawOrigin origin = new RawOrigin(request -> request.ok(FRESH, new byte[1]));
                ProxyServer server = ProxyServer.builder()
                        .listen("127.0.0.1:0")
                        .map("/", origin.url())
                        .events(events::add)
                        .extension(extension)
                        .start();
                RawClient client = new RawClient(server.addresses().get(0))) {
            client.get("/a");
            LoadedExtension loaded = server.extensions().all().get(0);
            ProxyExtension.await(
                    "the report",
                    () -> loaded.figures(Hook.DELIVER).failures(FailureReason.BLOCKED) == 1 && !events.isEmpty());
            extension.go.countDown();
            assertEquals(200, client.response().status());
            Event event = events.get(0);
            assertEquals(EventKind.EXTENSION_BLOCKS, event.kind());
            assertEquals("extension test", event.subject());
            assertTrue(event.text().startsWith("the hook deliver has been running on millrace-loop"), event.text());
        }
    }

    // Opening

    private static String refusal(ExtensionEntry entry) {
        ProxyServerBuilder builder = ProxyServer.builder()
                .listen("127.0.0.1:0")
                .map("/", "http://127.0.0.1:9")
                .extension(entry);
        return assertThrows(ExtensionException.class, builder::build).getMessage();
    }

    @Test
    void extensionOfAnotherInterfaceVersionIsRefused() {
        TestExtension old = new TestExtension() {
            @Override
            public int apiVersion() {
                return 0;
            }
        };
        assertEquals(
                "extension test was compiled for version 0 of the interface; this proxy has version 1",
                refusal(old.entry()));
        assertFalse(old.isClosed());
    }

    @Test
    void extensionWhoseOpenFailsIsNamed() {
        TestExtension broken = new TestExtension() {
            @Override
            public void open(ExtensionContext opened) throws Exception {
                throw new IOException("no such service");
            }
        };
        assertEquals("extension test cannot be opened: java.io.IOException: no such service", refusal(broken.entry()));
    }

    @Test
    void faultOfTheConfigurationHasItsPlace() {
        TestExtension reading = new TestExtension() {
            @Override
            public void open(ExtensionContext opened) throws Exception {
                opened.config().section("service").number("port", 80, 1, 65_535);
            }
        };
        ConfigTree port = ConfigTree.text("none", "millrace.yaml:3:7");
        ConfigTree service = ConfigTree.section(Map.of("port", port), "");
        SectionConfig config = SectionConfig.of(ConfigTree.section(Map.of("service", service), ""));
        assertEquals(
                "millrace.yaml:3:7: extension test: config.service.port: 'none' is not an integer",
                refusal(new ExtensionEntry("test", reading, null, 1, config, rule -> true)));
    }

    @Test
    void extensionsWithTheSameNameAreRefusedAndTheOpenOnesClosed() {
        TestExtension first = new TestExtension();
        ProxyServerBuilder builder = ProxyServer.builder()
                .listen("127.0.0.1:0")
                .map("/", "http://127.0.0.1:9")
                .extension(first)
                .extension(new TestExtension());
        assertEquals(
                "two extensions have the name test",
                assertThrows(ExtensionException.class, builder::build).getMessage());
        assertTrue(first.isClosed());
    }
}
