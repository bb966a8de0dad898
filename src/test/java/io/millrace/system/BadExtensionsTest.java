package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.extension.load.ExtensionJars;
import java.nio.file.Files;
import java.nio.file.Path;
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
                @Override public void open(ExtensionContext context) {}
                %s
            }
            """;

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.withLeakDetection();

    /** Starts the product with an extension for all paths except those that begin with /plain. */
    private static MillraceProcess start(String interfaces, String methods, String settings) throws Exception {
        for (String path : new String[] {"/a", "/b", "/plain"}) {
            origin.serves(path, "content", "Cache-Control: max-age=600");
        }
        Path directory = product.newDirectory();
        ExtensionJars.one(directory.resolve("bad.jar"), "Bad", CLASS.formatted(interfaces, methods));
        Path config = directory.resolve("millrace.yaml");
        Files.writeString(config, """
                remap:
                  - {map: /plain, to: "%1$s/plain", extensions: []}
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

    @Test
    void exceptionsInEveryHook() throws Exception {
        String thrown = "{ throw new IllegalStateException(\"bad\"); }\n";
        MillraceProcess proxy = start(
                "CacheKeyHook, LookupHook, OriginRequestHook, OriginResponseHook, BodyTransformHook, DeliverHook,"
                        + " OriginResolver, PurgeObserver",
                "@Override public void cacheKey(RequestView request, Parts parts) " + thrown
                        + "@Override public Action lookupDone(RequestView request, State state) " + thrown
                        + "@Override public void originRequest(OriginRequestView request,"
                        + " Continuation<OriginRequestView> continuation) " + thrown
                        + "@Override public void originResponse(OriginResponseView response) " + thrown
                        + "@Override public Transform bodyTransform(OriginResponseView response) " + thrown
                        + "@Override public void deliver(RequestView request, DeliveredResponse response) " + thrown
                        + "@Override public java.net.URI resolve(RequestView request) " + thrown
                        + "@Override public void purged(Purge purge) " + thrown,
                "");
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
}
