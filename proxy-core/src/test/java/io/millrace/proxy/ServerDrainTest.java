package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.data.ServerAdmin;
import io.millrace.proxy.admin.status.ServerSource.ServerReport;
import io.millrace.proxy.admin.status.ServerSource.ThreadView;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.server.DrainRequest;
import io.millrace.proxy.server.ServingLoop;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests an operator's drain over real sockets, and the report about the process. */
class ServerDrainTest {
    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    private DrainRequest drain;

    private void start(boolean fastLane) throws Exception {
        proxy.start(
                request -> request.ok("Cache-Control: max-age=60\r\n", RawInput.latin1("content")),
                config -> config.set("worker.fast_lane", String.valueOf(fastLane)));
        drain = new DrainRequest(proxy.proxy().loops(), directory.resolve("mark"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void answersSayCloseAndConnectionsAreAcceptedUntilItIsUndone(boolean fastLane) throws Exception {
        start(fastLane);
        RawClient before = proxy.client();
        assertNull(before.get("/a").response().field("connection"));
        drain.set(true);
        proxy.settle();
        RawClient.Response last = before.get("/a").response();
        assertEquals("close", last.field("connection"));
        assertThrows(IOException.class, before::head);
        RawClient another = proxy.client();
        assertEquals("close", another.get("/a").response().field("connection"));
        assertThrows(IOException.class, another::head);
        assertEquals("close", proxy.client().get("/miss").response().field("connection"));
        drain.set(false);
        proxy.settle();
        RawClient after = proxy.client();
        assertNull(after.get("/a").response().field("connection"));
        assertNull(after.get("/a").response().field("connection"));
    }

    /** One client sends requests all the time, one sends none. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aDrainForASuccessorAnswersUntilAResponseSaysClose(boolean fastLane) throws Exception {
        start(fastLane);
        RawClient busy = proxy.client();
        RawClient idle = proxy.client();
        assertNull(busy.get("/a").response().field("connection"));
        assertNull(idle.get("/a").response().field("connection"));
        CompletableFuture<Void> last = new CompletableFuture<>();
        CompletableFuture<Void> drained = proxy.proxy()
                .handOver()
                .drain(TimeUnit.SECONDS.toNanos(60), () -> last.complete(null))
                .toCompletableFuture();
        RawClient.Response response;
        do {
            response = busy.get("/a").response();
            assertEquals(200, response.status());
        } while (response.field("connection") == null);
        assertEquals("close", response.field("connection"));
        assertNull(busy.in.readHead());
        assertNull(idle.in.readHead());
        last.get(30, TimeUnit.SECONDS);
        drained.get(30, TimeUnit.SECONDS);
    }

    /** Otherwise the launcher answers 502 to a purge that the next worker has made durable. */
    @Test
    void aDrainedWorkerAnswersThePurgesOfItsAdminApi() throws Exception {
        Path socket = directory.resolve("admin.sock");
        proxy.start(
                request -> request.ok("Cache-Control: max-age=60\r\n", RawInput.latin1("content")),
                config -> config.storage(directory.resolve("disk"), 64 << 20).set("admin.socket", socket.toString()));
        BlockingQueue<Consumer<IOException>> changes = new LinkedBlockingQueue<>();
        AtomicBoolean isSuccessorReady = new AtomicBoolean();
        proxy.proxy().handOver().release((change, reply) -> {
            changes.add(reply);
            if (isSuccessorReady.get()) {
                reply.accept(null);
            }
        });
        try (AdminFront front = AdminFront.of(directory, socket)) {
            CompletableFuture<RawClient.Response> answer =
                    answer(front, "POST", "/v1/cache/purge", "{\"host\":\"test.example\"}");
            Consumer<IOException> reply = changes.poll(30, TimeUnit.SECONDS);
            assertNotNull(reply, "the purge is passed to the successor");
            CompletableFuture<Void> drained =
                    proxy.proxy().drain(TimeUnit.SECONDS.toNanos(60)).toCompletableFuture();
            proxy.settle();
            assertEquals(
                    200, answer(front, "GET", "/v1/cache/purges", "").join().status());
            assertFalse(drained.isDone());
            isSuccessorReady.set(true);
            reply.accept(null);
            assertEquals(200, answer.get(30, TimeUnit.SECONDS).status());
            drained.get(30, TimeUnit.SECONDS);
        }
    }

    /** The client connection ends while the purge waits for the next worker. */
    @Test
    void aPurgeThatArrivesDuringTheDrainIsAnswered() throws Exception {
        Path socket = directory.resolve("admin.sock");
        proxy.start(
                request -> request.ok("Cache-Control: max-age=60\r\n", RawInput.latin1("content")),
                config -> config.storage(directory.resolve("disk"), 64 << 20).set("admin.socket", socket.toString()));
        BlockingQueue<Consumer<IOException>> changes = new LinkedBlockingQueue<>();
        AtomicBoolean isSuccessorReady = new AtomicBoolean();
        proxy.proxy().handOver().release((change, reply) -> {
            changes.add(reply);
            if (isSuccessorReady.get()) {
                reply.accept(null);
            }
        });
        try (AdminFront front = AdminFront.of(directory, socket);
                RawClient client = proxy.client()) {
            ProxyExtension.await("the client is accepted", () -> openConnections() == 1);
            CompletableFuture<Void> drained =
                    proxy.proxy().drain(TimeUnit.SECONDS.toNanos(60)).toCompletableFuture();
            CompletableFuture<RawClient.Response> answer =
                    answer(front, "POST", "/v1/cache/purge", "{\"host\":\"test.example\"}");
            Consumer<IOException> reply = changes.poll(30, TimeUnit.SECONDS);
            assertNotNull(reply, "the purge is passed to the successor");
            assertEquals("close", client.get("/a").response().field("connection"));
            assertNull(client.in.readHead());
            ProxyExtension.await("the client has left", () -> openConnections() == 0);
            for (ServingLoop loop : proxy.proxy().loops()) {
                loop.loop().submit(() -> {}).syncUninterruptibly();
            }
            assertEquals(
                    200, answer(front, "GET", "/v1/cache/purges", "").join().status());
            assertFalse(drained.isDone());
            isSuccessorReady.set(true);
            reply.accept(null);
            assertEquals(200, answer.get(30, TimeUnit.SECONDS).status());
            drained.get(30, TimeUnit.SECONDS);
        }
    }

    private int openConnections() {
        return proxy.proxy().loops().stream()
                .mapToInt(loop -> loop.connections().size())
                .sum();
    }

    private static CompletableFuture<RawClient.Response> answer(
            AdminFront front, String method, String target, String body) {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return front.request("admin", method, target, body);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    @Test
    void theNextWorkerReportsTheMetricToo() throws Exception {
        Path socket = directory.resolve("admin.sock");
        ProxyServer served = ProxyServer.builder()
                .config(ProxyConfig.builder()
                        .listen("127.0.0.1:0")
                        .map("/", "http://127.0.0.1:9/")
                        .set("cache.ram_size", "16MiB")
                        .set("log.access.enabled", "false")
                        .set("worker.event_loops", "1")
                        .build())
                .adminSocket(socket)
                .drainMark(directory.resolve("mark"))
                .start();
        try (served) {
            assertTrue(served.metricsText().contains("millrace_draining{application=\"millrace\"} 0.0"));
            Files.write(directory.resolve("mark"), new byte[0]);
        }
        ProxyServer next = ProxyServer.builder()
                .config(served.config())
                .adminSocket(socket)
                .drainMark(directory.resolve("mark"))
                .start();
        try (next) {
            assertTrue(next.metricsText().contains("millrace_draining{application=\"millrace\"} 1.0"));
        }
    }

    @Test
    void theNextWorkerDetectsItByTheMark() throws Exception {
        start(true);
        drain.set(true);
        DrainRequest next = new DrainRequest(proxy.proxy().loops(), directory.resolve("mark"));
        assertFalse(next.isSet());
        next.restore();
        assertTrue(next.isSet());
        next.set(false);
        assertFalse(Files.exists(directory.resolve("mark")));
        DrainRequest third = new DrainRequest(proxy.proxy().loops(), directory.resolve("mark"));
        third.restore();
        assertFalse(third.isSet());
    }

    @Test
    void theReportCountsPerLoopAndContainsDraining() throws Exception {
        start(true);
        proxy.get("/a");
        proxy.get("/a");
        proxy.settle();
        ServerAdmin admin = new ServerAdmin(new ServerView(proxy.proxy()), drain);
        ServerReport report = admin.report();
        assertEquals("running", report.state());
        assertEquals(1, report.loops().size());
        assertEquals(2, report.loops().get(0).requests());
        assertEquals(1, report.loops().get(0).hits());
        assertTrue(report.residentBytes() > 1 << 20, report.toString());
        assertTrue(report.descriptors() > 2, report.toString());
        assertEquals("draining", admin.drain(false).state());
        assertEquals("running", admin.drain(true).state());
    }

    @Test
    void threadsHaveNamesAndStacksOfTheDepthAskedFor() throws Exception {
        start(true);
        ServerAdmin admin = new ServerAdmin(new ServerView(proxy.proxy()), drain);
        List<ThreadView> threads = admin.threads(3).threads();
        assertTrue(threads.stream().anyMatch(thread -> thread.name().startsWith("millrace-loop")));
        assertTrue(threads.stream().allMatch(thread -> thread.stack().size() <= 3));
        assertTrue(threads.stream().anyMatch(thread -> thread.stack().size() == 3));
        assertTrue(admin.threads(0).threads().stream()
                .allMatch(thread -> thread.stack().isEmpty()));
    }
}
