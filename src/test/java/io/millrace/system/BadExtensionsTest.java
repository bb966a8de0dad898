package io.millrace.system;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.extension.load.ExtensionJars;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests that faulty extensions are named, and that the product serves its clients in spite of them. */
@Tag("nightly")
class BadExtensionsTest {
    private static final String CLASS = """
            import io.millrace.proxy.spi.*;
            public final class Bad implements Extension, %s {
                @Override public int apiVersion() { return Extension.API_VERSION; }
                @Override public String name() { return "bad"; }
                private ExtensionContext context;
                @Override public void open(ExtensionContext opened) { context = opened; }
                %s
            }
            """;

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.withLeakDetection();

    private static final String HOOKS = "CacheKeyHook, LookupHook, OriginRequestHook, OriginResponseHook,"
            + " BodyTransformHook, DeliverHook, OriginResolver, PurgeObserver";

    /** Rounds of load with and without the faulty extension, in turn. */
    private static final int ROUNDS = 5;

    private static final int SECONDS = 3;

    /** Starts the product with an extension for all paths except those that begin with /plain and /good. */
    private static MillraceProcess start(String interfaces, String methods, String settings) throws Exception {
        for (String path : new String[] {"/a", "/b", "/plain", "/good"}) {
            origin.serves(path, "content", "Cache-Control: max-age=600");
        }
        Path directory = product.newDirectory();
        ExtensionJars.one(directory.resolve("bad.jar"), "Bad", CLASS.formatted(interfaces, methods));
        Path config = directory.resolve("millrace.yaml");
        Files.writeString(config, """
                remap:
                  - {map: /plain, to: "%1$s/plain", extensions: []}
                  - {map: /good, to: "%1$s/good", extensions: []}
                  - {map: /, to: "%1$s/"}
                worker: {event_loops: 2, heartbeat_interval: 200ms, heartbeat_timeout: 2s}
                extensions: [{name: bad, jar: bad.jar%2$s}]
                """.formatted(origin.url(), settings));
        return product.launch().config(config).shortWarmUp().start();
    }

    private static void assertMetric(MillraceProcess proxy, String hook, String reason) throws Exception {
        String metrics = proxy.millctl("metric", "match", "extension_failures")
                .succeeds()
                .out();
        assertTrue(
                metrics.lines()
                        .anyMatch(line -> line.contains(hook)
                                && line.contains(reason)
                                && !line.strip().endsWith(" 0")),
                metrics);
        String list = proxy.millctl("extension", "list").succeeds().out();
        assertTrue(list.contains("last failure"), list);
        assertEquals(200, RawClient.fetch(proxy.port(), "/plain").status());
    }

    private static String throwing() {
        String thrown = "{ throw new IllegalStateException(\"bad\"); }\n";
        return "@Override public void cacheKey(RequestView request, Parts parts) " + thrown
                + "@Override public Action lookupDone(RequestView request, State state) " + thrown
                + "@Override public void originRequest(OriginRequestView request,"
                + " Continuation<OriginRequestView> continuation) " + thrown
                + "@Override public void originResponse(OriginResponseView response) " + thrown
                + "@Override public Transform bodyTransform(OriginResponseView response) " + thrown
                + "@Override public void deliver(RequestView request, DeliveredResponse response) " + thrown
                + "@Override public java.net.URI resolve(RequestView request) " + thrown
                + "@Override public void purged(Purge purge) " + thrown;
    }

    @Test
    void exceptionsInEveryHook() throws Exception {
        MillraceProcess proxy = start(HOOKS, throwing(), "");
        for (int i = 0; i < 10; i++) {
            assertEquals("content", RawClient.fetch(proxy.port(), "/a").text());
        }
        proxy.millctl("purge", proxy.url("/a")).succeeds();
        assertMetric(proxy, "deliver", "exception");
    }

    @Test
    void aHookThatNeverEndsMeetsItsDeadline() throws Exception {
        MillraceProcess proxy = start(
                "RequestHook",
                "@Override public void requestReceived(RequestView request, Reply reply) {}",
                ", deadline: 200ms");
        assertEquals(503, RawClient.fetch(proxy.port(), "/a").status());
        assertMetric(proxy, "request_received", "deadline");
    }

    @Test
    void theSecondAnswerIsIgnored() throws Exception {
        MillraceProcess proxy = start(
                "RequestHook",
                "@Override public void requestReceived(RequestView request, Reply reply) {"
                        + " reply.answer(Answer.status(200).body(\"first\").build());"
                        + " reply.answer(Answer.status(500).body(\"second\").build()); }",
                "");
        assertEquals("first", RawClient.fetch(proxy.port(), "/a").text());
        assertMetric(proxy, "request_received", "repeated");
    }

    @Test
    void tooManyFieldsAreNotSent() throws Exception {
        MillraceProcess proxy = start(
                "DeliverHook",
                "@Override public void deliver(RequestView request, DeliveredResponse response) {"
                        + " for (int i = 0; i < 1000; i++) { response.fields().add(\"X-\" + i, \"more\"); } }",
                "");
        RawResponse response = RawClient.fetch(proxy.port(), "/a");
        assertEquals("content", response.text());
        assertMetric(proxy, "deliver", "limit");
    }

    /** The worker is replaced, and the log names the hook. */
    @Test
    void aLoopOnAnEventLoopEndsTheWorker() throws Exception {
        MillraceProcess proxy = start(
                "DeliverHook",
                "@Override public void deliver(RequestView request, DeliveredResponse response) {"
                        + " while (request.path().equals(\"/b\")) { Thread.onSpinWait(); } }",
                "");
        assertEquals(200, RawClient.fetch(proxy.port(), "/a").status());
        long first = proxy.worker().pid();
        try (RawClient stuck = RawClient.connect(proxy.port())) {
            stuck.get("/b");
            proxy.awaitWorkerAfter(first);
        }
        assertEquals(200, RawClient.fetch(proxy.port(), "/a").status());
        String events = proxy.millctl("events").succeeds().out();
        assertTrue(events.contains("extension-blocks"), events);
        assertTrue(events.contains("extension bad"), events);
        assertTrue(events.contains("deliver"), events);
        assertTrue(events.contains("worker-died"), events);
    }

    /** Returns the medians of the 99th percentiles of /plain: beside requests of a good rule, and of the faulty one. */
    private static double[] p99(MillraceProcess proxy) throws Exception {
        // The first rounds compile code.
        p99(proxy, "/good");
        p99(proxy, "/a");
        double[] without = new double[ROUNDS];
        double[] with = new double[ROUNDS];
        for (int i = 0; i < ROUNDS; i++) {
            without[i] = p99(proxy, "/good");
            with[i] = p99(proxy, "/a");
        }
        Arrays.sort(without);
        Arrays.sort(with);
        return new double[] {without[ROUNDS / 2], with[ROUNDS / 2]};
    }

    /** Returns the 99th percentile of /plain in ms, while other connections request another path. */
    private static double p99(MillraceProcess proxy, String besides) throws Exception {
        try (PacedLoad others = new PacedLoad(proxy.port(), 300, 4, number -> besides);
                PacedLoad plain = new PacedLoad(proxy.port(), 300, 2, number -> "/plain")) {
            await().atMost(Duration.ofSeconds(10 * SECONDS)).until(() -> plain.seconds() >= SECONDS);
            double p99 = plain.p99(0, SECONDS - 0.1);
            plain.stop();
            others.stop();
            assertEquals(List.of(), plain.failures());
            return p99;
        }
    }

    private static void assertOthersAreServed(MillraceProcess proxy) throws Exception {
        double[] p99 = p99(proxy);
        System.out.printf("p99 of another rule in ms: without=%.2f, with=%.2f%n", p99[0], p99[1]);
        assertTrue(p99[1] <= 2 * p99[0], "p99 in ms: without=" + p99[0] + ", with=" + p99[1]);
    }

    @Test
    void otherRulesAreServedBesideExceptions() throws Exception {
        assertOthersAreServed(start(HOOKS, throwing(), ""));
    }

    @Test
    void otherRulesAreServedBesideAHookThatNeverEnds() throws Exception {
        assertOthersAreServed(start(
                "RequestHook",
                "@Override public void requestReceived(RequestView request, Reply reply) {}",
                ", deadline: 200ms"));
    }

    @Test
    void otherRulesAreServedBesideSecondAnswers() throws Exception {
        assertOthersAreServed(start(
                "RequestHook",
                "@Override public void requestReceived(RequestView request, Reply reply) {"
                        + " reply.answer(Answer.status(200).body(\"first\").build());"
                        + " reply.answer(Answer.status(500).body(\"second\").build()); }",
                ""));
    }

    /** The tasks never end, so that all threads of the extension's executor are busy. */
    @Test
    void otherRulesAreServedBesideEndlessTasks() throws Exception {
        assertOthersAreServed(start(
                "RequestHook",
                "private final java.util.concurrent.atomic.AtomicBoolean spins ="
                        + " new java.util.concurrent.atomic.AtomicBoolean();"
                        + " @Override public void requestReceived(RequestView request, Reply reply) {"
                        + " if (spins.compareAndSet(false, true)) { context.executor().execute(() -> {"
                        + " while (true) { Thread.onSpinWait(); } }); }"
                        + " context.executor().execute(reply::proceed); }",
                ", deadline: 200ms"));
    }

    /** The worker is replaced, and its last event names the hook. */
    @Test
    void anExtensionThatTakesAllMemoryEndsTheWorkerAndIsNamed() throws Exception {
        MillraceProcess proxy = start(
                "DeliverHook",
                "private static final java.util.List<byte[]> KEPT = new java.util.ArrayList<>();"
                        + " @Override public void deliver(RequestView request, DeliveredResponse response) {"
                        + " while (request.path().equals(\"/b\")) { KEPT.add(new byte[1 << 20]); } }",
                "");
        assertEquals(200, RawClient.fetch(proxy.port(), "/a").status());
        long first = proxy.worker().pid();
        try (RawClient stuck = RawClient.connect(proxy.port())) {
            stuck.get("/b");
            proxy.awaitWorkerAfter(first);
        }
        for (String path : new String[] {"/a", "/plain"}) {
            assertEquals(200, RawClient.fetch(proxy.port(), path).status());
        }
        String events = proxy.millctl("events").succeeds().out();
        assertTrue(events.contains("worker-died"), events);
        assertTrue(events.contains("hook deliver of extension bad"), events);
    }
}
