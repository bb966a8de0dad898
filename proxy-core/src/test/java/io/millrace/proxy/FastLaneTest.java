package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.exchange.ExchangeLoop;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.OutboundHead;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.net.DecidedRequest;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.LoopCounters;
import io.millrace.proxy.server.ServingLoop;
import io.millrace.store.CacheStore;
import io.millrace.store.ResidentReader;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the moves of connections between the fast lane and channels: the serving side, the moved state, and the end.
 */
class FastLaneTest {
    private static final String FRESH = "Cache-Control: max-age=600\r\n";
    private static final byte[] CONTENT = ProxyExtension.content(20_000);

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @BeforeAll
    static void needsEpoll() {
        Assumptions.assumeTrue(io.millrace.proxy.net.Transport.choose("auto").hasPlainSockets(), "no epoll here");
    }

    private void start(String... settings) throws IOException {
        proxy.start(
                request -> request.ok(request.has("/miss") ? "Cache-Control: no-store\r\n" : FRESH, CONTENT),
                config -> {
                    config.set("worker.fast_lane", "true");
                    for (int i = 0; i < settings.length; i += 2) {
                        config.set(settings[i], settings[i + 1]);
                    }
                    return config;
                });
        proxy.get("/a");
        proxy.settle();
    }

    private long answered() {
        return proxy.counted(Counter.FAST_LANE_ANSWERED);
    }

    private void awaitReturn(long times) {
        ProxyExtension.await(
                "the connection is back in the fast lane", () -> proxy.counted(Counter.FAST_LANE_RETURNED) == times);
    }

    private void awaitNoConnection() {
        ProxyExtension.await(
                "no connection is left",
                () -> proxy.counted(Counter.CLIENT_CONNECTIONS) == 0
                        && proxy.proxy().loops().get(0).connections().size() == 0);
    }

    @Test
    void hitsAreAnsweredWithoutAChannel() throws Exception {
        start();
        long promoted = proxy.counted(Counter.FAST_LANE_PROMOTED);
        RawClient client = proxy.client();
        for (int i = 1; i <= 3; i++) {
            assertArrayEquals(CONTENT, client.get("/a").response().content());
            assertEquals(i, answered());
        }
        assertEquals(promoted, proxy.counted(Counter.FAST_LANE_PROMOTED));
        assertEquals(1, proxy.origin().requests());
        assertEquals(1, proxy.counted(Counter.CLIENT_CONNECTIONS));
    }

    @Test
    void connectionGoesToAChannelForAMissAndComesBackWhenIdle() throws Exception {
        start();
        RawClient client = proxy.client();
        for (int round = 1; round <= 3; round++) {
            long before = proxy.counted(Counter.FAST_LANE_RETURNED);
            long hits = answered();
            assertArrayEquals(CONTENT, client.get("/miss").response().content());
            awaitReturn(before + 1);
            assertArrayEquals(CONTENT, client.get("/a").response().content());
            assertEquals(hits + 1, answered());
        }
        assertEquals(1, proxy.counted(Counter.CLIENT_CONNECTIONS));
        client.close();
        awaitNoConnection();
    }

    /** The connection is back before the client can receive the response and send another request. */
    @Test
    void connectionThatHadManyHitsComesBackAtOnce() throws Exception {
        start();
        RawClient client = proxy.client();
        for (int round = 0; round < 20; round++) {
            long before = answered();
            for (int i = 0; i < 8; i++) {
                client.get("/a").response();
            }
            assertEquals(before + 8, answered(), "round " + round);
            client.get("/miss").response();
        }
    }

    @Test
    void whatIsReadBeforeAMoveIsNotLost() throws Exception {
        start();
        String hit = "GET /a HTTP/1.1\r\nHost: test.example\r\n\r\n";
        String miss = hit.replace("/a", "/miss");
        RawClient client = proxy.client();
        client.send((hit + hit + miss + hit).repeat(10) + "GET /a HTTP/1.1\r\nHost: test.ex");
        for (int i = 0; i < 40; i++) {
            assertArrayEquals(CONTENT, client.response().content());
        }
        client.send("ample\r\n\r\n");
        assertArrayEquals(CONTENT, client.response().content());
        assertTrue(answered() >= 2);
    }

    @Test
    void requestThatComesByteByByteIsAnswered() throws Exception {
        start();
        RawClient client = proxy.client();
        for (byte each : RawInput.latin1("GET /a HTTP/1.1\r\nHost: test.example\r\n\r\n")) {
            client.send(new byte[] {each});
        }
        assertArrayEquals(CONTENT, client.response().content());
    }

    /** The kernel does not accept all bytes: a channel waits for the client, and nothing is lost or sent twice. */
    @Test
    void clientThatDoesNotReadGetsEveryByteLater() throws Exception {
        start();
        int count = 1500;
        RawClient client = proxy.slowClient();
        byte[] all = RawInput.latin1("GET /a HTTP/1.1\r\nHost: test.example\r\n\r\n".repeat(count));
        CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> {
            try {
                client.send(all);
            } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        });
        ProxyExtension.await("answers that the client does not take", () -> answered() > 20);
        assertTrue(proxy.usedBytes() < 6 << 20, () -> "bytes in use: " + proxy.usedBytes());
        for (int i = 0; i < count; i++) {
            assertArrayEquals(CONTENT, client.response().content(), "response " + i);
        }
        sent.get(RawClient.WAIT_MILLIS, TimeUnit.MILLISECONDS);
    }

    @Test
    void clientThatDoesNotReadIsTimedOut() throws Exception {
        start("timeouts.client_body", "500ms");
        RawClient client = proxy.slowClient();
        CompletableFuture.runAsync(() -> {
            try {
                client.send(RawInput.latin1("GET /a HTTP/1.1\r\nHost: test.example\r\n\r\n".repeat(5000)));
            } catch (IOException e) {
                // The proxy closes the connection.
            }
        });
        ProxyExtension.await("answers that the client does not take", () -> answered() > 20);
        awaitNoConnection();
    }

    @Test
    void clientThatClosesItsSideGetsItsAnswer() throws Exception {
        start();
        RawClient client = proxy.client().get("/a");
        client.socket.shutdownOutput();
        assertArrayEquals(CONTENT, client.response().content());
        assertNull(client.in.readHead());
        awaitNoConnection();
    }

    /**
     * Requests of 1,024 bytes each: one read ends exactly at the end of a request, and the next requests are already
     * available.
     */
    @Test
    void requestsThatFillAReadToItsEndDoNotKeepThoseBehindThemWaiting() throws Exception {
        start();
        String start = "HEAD /a HTTP/1.1\r\nHost: test.example\r\nX-Fill: ";
        byte[] request = RawInput.latin1(start + "x".repeat(1024 - start.length() - 4) + "\r\n\r\n");
        int count = 20 * 32;
        byte[] all = new byte[count * request.length];
        for (int i = 0; i < count; i++) {
            System.arraycopy(request, 0, all, i * request.length, request.length);
        }
        RawClient client = proxy.client();
        CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> {
            try {
                client.send(all);
                client.socket.shutdownOutput();
            } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        });
        for (int i = 0; i < count; i++) {
            String head = client.in.readHead();
            assertTrue(head != null && head.startsWith("HTTP/1.1 200 "), "response " + i);
        }
        assertNull(client.in.readHead());
        sent.get(RawClient.WAIT_MILLIS, TimeUnit.MILLISECONDS);
        awaitNoConnection();
    }

    @Test
    void idleConnectionIsClosedAfterItsTimeout() throws Exception {
        start("timeouts.client_keep_alive", "300ms", "timeouts.client_header", "300ms");
        RawClient idle = proxy.client().get("/a");
        RawClient silent = proxy.client();
        idle.response();
        assertNull(idle.in.readHead());
        assertNull(silent.in.readHead());
        awaitNoConnection();
    }

    @Test
    void idleTimeGoesOnWhereTheConnectionMoves() throws Exception {
        start("timeouts.client_keep_alive", "1s");
        RawClient client = proxy.client().get("/miss");
        client.response();
        awaitReturn(1);
        assertNull(client.in.readHead());
        awaitNoConnection();
    }

    @Test
    void drainClosesIdleConnectionsAndEndsTheOthersWithTheirNextAnswer() throws Exception {
        start();
        // Otherwise the connection of the first request could be counted as one of the two.
        awaitNoConnection();
        RawClient idle = proxy.client().get("/a");
        idle.response();
        RawClient fresh = proxy.client();
        ProxyExtension.await(
                "both are accepted",
                () -> proxy.proxy().loops().get(0).connections().size() == 2);
        CompletableFuture<Void> drained =
                proxy.proxy().drain(TimeUnit.SECONDS.toNanos(60)).toCompletableFuture();
        assertNull(idle.in.readHead());
        RawClient.Response last = fresh.get("/a").response();
        assertEquals("close", last.field("connection"));
        assertNull(fresh.in.readHead());
        idle.close();
        fresh.close();
        drained.get(RawClient.WAIT_MILLIS, TimeUnit.MILLISECONDS);
    }

    /** RFC 9112 s9.6: closing the connection would lose a request that is on its way. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void requestOnItsWayWhenADrainBeginsIsAnswered(boolean fastLane) throws Exception {
        start("worker.fast_lane", Boolean.toString(fastLane));
        List<RawClient> clients = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            RawClient client = proxy.client().get("/a");
            client.response();
            clients.add(client);
        }
        CompletableFuture<Void> drained =
                proxy.proxy().drain(TimeUnit.SECONDS.toNanos(60)).toCompletableFuture();
        // The event loop has received the drain.
        proxy.proxy().loops().get(0).loop().submit(() -> {}).syncUninterruptibly();
        for (RawClient client : clients.subList(0, 2)) {
            RawClient.Response last = client.get("/a").response();
            assertEquals("close", last.field("connection"));
            assertNull(client.in.readHead());
            client.close();
        }
        assertNull(clients.get(2).in.readHead());
        clients.get(2).close();
        drained.get(RawClient.WAIT_MILLIS, TimeUnit.MILLISECONDS);
    }

    /** A reset that arrives after the poll of the event loop and before the task of the drain. */
    @Test
    void clientThatResetsDoesNotKeepTheOthersFromBeingDrained() throws Exception {
        start();
        List<RawClient> clients = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            RawClient client = proxy.client().get("/a");
            assertArrayEquals(CONTENT, client.response().content());
            clients.add(client);
        }
        ServingLoop serving = proxy.proxy().loops().get(0);
        Throwable thrown = serving.loop()
                .submit(() -> {
                    clients.get(0).reset();
                    serving.connections().drain(() -> {}, () -> {});
                    return null;
                })
                .awaitUninterruptibly()
                .cause();
        assertNull(thrown);
        for (RawClient client : clients.subList(1, 3)) {
            assertEquals(0, client.in.readToEnd().length);
        }
    }

    /** The kernel has accepted the connection, and it is reset before the event loop accepts it. */
    @Test
    void clientThatResetsBeforeItIsAcceptedLeavesNothingWhereTheLaneIsOff() throws Exception {
        start("worker.fast_lane", "false");
        awaitNoConnection();
        ServingLoop serving = proxy.proxy().loops().get(0);
        serving.loop()
                .submit(() -> {
                    for (int i = 0; i < 5; i++) {
                        new RawClient(proxy.address()).reset();
                    }
                    return null;
                })
                .awaitUninterruptibly();
        proxy.get("/a");
        awaitNoConnection();
    }

    /** Some resets arrive before the request is read, others while it is decided and its channel is created. */
    @Test
    void requestsOfClientsThatResetAreCountedLikeOthers() throws Exception {
        start();
        for (int i = 0; i < 100; i++) {
            RawClient client = proxy.client().get("/a");
            assertArrayEquals(CONTENT, client.response().content());
            client.get("/miss").reset();
        }
        awaitNoConnection();
        proxy.settle();
        ProxyExtension.await("no request is left", () -> proxy.counted(Counter.REQUESTS_ACTIVE) == 0);
        assertEquals(
                sum(Counter.LOOKUPS_RAM, Counter.LOOKUPS_DISK, Counter.LOOKUPS_ABSENT),
                sum(Counter.RESPONSES_2XX, Counter.RESPONSES_5XX, Counter.RESPONSES_NONE));
    }

    private long sum(Counter... counters) {
        long sum = 0;
        for (Counter counter : counters) {
            sum += proxy.counted(counter);
        }
        return sum;
    }

    @Test
    void requestsOfAConnectionAreCountedAcrossMoves() throws Exception {
        start("limits.requests_per_connection", "4");
        RawClient client = proxy.client();
        client.get("/a").response();
        client.get("/miss").response();
        awaitReturn(1);
        assertNull(client.get("/a").response().field("connection"));
        assertEquals("close", client.get("/a").response().field("connection"));
        assertNull(client.in.readHead());
    }

    @Test
    void settingHoldsForNewConnectionsAtOnce() throws Exception {
        start();
        RawClient before = proxy.client();
        before.get("/a").response();
        proxy.reload(config -> config.set("worker.fast_lane", "false"));
        long hits = answered();
        proxy.client().get("/a").response();
        assertEquals(hits, answered());
        before.get("/a").response();
        assertEquals(hits + 1, answered());
        before.get("/miss").response();
        before.get("/a").response();
        assertEquals(hits + 1, answered());
    }

    @Test
    void withoutEpollChannelsServe() throws Exception {
        start("worker.transport", "nio");
        assertArrayEquals(CONTENT, proxy.get("/a").content());
        assertEquals(0, answered());
    }

    /** Creating the channel takes so long that a fetch of another event loop may end in the meantime. */
    @Test
    void whatIsStoredWhileAMissMovesIsNotFetchedAgain() throws Exception {
        start();
        ServingLoop serving = proxy.proxy().loops().get(0);
        ExchangeLoop exchanges =
                new ExchangeLoop(serving.loop(), proxy.proxy().shared(), serving.origins(), new LoopCounters(), null);
        AnsweredStream stream = new AnsweredStream(serving.loop());
        RequestHead head = RequestHead.of(
                "GET",
                (TargetUri) TargetUri.parseAbsolute("http://test.example/b"),
                FieldSection.builder().add("Host", "test.example").build());
        DecidedRequest missed = serving.loop()
                .submit(() -> exchanges.onFastRequest(stream, head))
                .awaitUninterruptibly()
                .getNow();
        proxy.get("/b");
        proxy.settle();
        int requests = proxy.origin().requests();
        serving.loop().submit(() -> missed.resume(stream, head).onRequestEnd()).awaitUninterruptibly();
        ProxyExtension.await("the answer", () -> stream.bytesSent() == CONTENT.length);
        assertEquals(requests, proxy.origin().requests());
    }

    /**
     * An entry that is removed from RAM in the meantime waits for the reader, on any event loop. Rules and rights are
     * therefore evaluated outside of the read.
     */
    @Test
    void readingInRamBeginsWithTheLookForTheKeyAndEndsWithTheAnswer() throws Exception {
        start();
        List<String> steps = new ArrayList<>();
        ServingLoop serving = proxy.proxy().loops().get(0);
        ExchangeLoop exchanges =
                new ExchangeLoop(serving.loop(), watched(steps), serving.origins(), new LoopCounters(), null);
        AnsweredStream stream = new AnsweredStream(serving.loop());
        assertNull(onLoop(serving, () -> exchanges.onFastRequest(stream, head("GET", "/a"))));
        assertEquals(CONTENT.length, stream.bytesSent());
        assertEquals(List.of("settings", "begin", "get"), steps.subList(0, 3));
        assertEquals("end", steps.get(steps.size() - 1));

        steps.clear();
        onLoop(serving, () -> exchanges.onFastRequest(stream, head("POST", "/a")))
                .release();
        assertEquals(List.of("settings"), steps);
        onLoop(serving, () -> {
            exchanges.close();
            return null;
        });
        assertEquals("close", steps.get(steps.size() - 1));
    }

    /** After a fault during a response the reader has ended, and the next hit works. */
    @Test
    void readingInRamEndsWhereAnAnswerFails() throws Exception {
        start();
        List<String> steps = new ArrayList<>();
        ServingLoop serving = proxy.proxy().loops().get(0);
        ExchangeLoop exchanges =
                new ExchangeLoop(serving.loop(), watched(steps), serving.origins(), new LoopCounters(), null);
        AnsweredStream failing = new AnsweredStream(serving.loop()) {
            @Override
            public void writeHead(OutboundHead head) {
                throw new IllegalStateException("of this test");
            }
        };
        AnsweredStream stream = new AnsweredStream(serving.loop());
        DecidedRequest failed = onLoop(serving, () -> exchanges.onFastRequest(failing, head("GET", "/a")));
        assertEquals("end", steps.get(steps.size() - 1));
        failed.release();
        assertNull(onLoop(serving, () -> exchanges.onFastRequest(stream, head("GET", "/a"))));
        assertEquals(CONTENT.length, stream.bytesSent());
    }

    private static RequestHead head(String method, String path) {
        return RequestHead.of(
                method,
                (TargetUri) TargetUri.parseAbsolute("http://test.example" + path),
                FieldSection.builder().add("Host", "test.example").build());
    }

    private static <T> T onLoop(ServingLoop serving, Callable<T> call) {
        return serving.loop().submit(call).syncUninterruptibly().getNow();
    }

    /** Returns the shared objects of the proxy, with settings and a store reader that record their calls. */
    private ExchangeLoop.Shared watched(List<String> steps) {
        ExchangeLoop.Shared all = proxy.proxy().shared();
        return new ExchangeLoop.Shared(
                watchedStore(all.store(), steps),
                all.collapser(),
                all.uncacheable(),
                all.purger(),
                all.invalidator(),
                all.purges(),
                all.groups(),
                all.hosts(),
                all.overload(),
                all.clients(),
                all.encoderThreads(),
                all.dictionaries(),
                all.pages(),
                all.clock(),
                () -> {
                    steps.add("settings");
                    return all.settings().get();
                });
    }

    @SuppressWarnings("unchecked") // of the proxy's objects that have the same interfaces
    private static <T> CacheStore<T> watchedStore(CacheStore<T> store, List<String> steps) {
        ClassLoader loader = CacheStore.class.getClassLoader();
        return (CacheStore<T>) Proxy.newProxyInstance(loader, new Class<?>[] {CacheStore.class}, (made, call, with) -> {
            Object result = call.invoke(store, with);
            return result instanceof ResidentReader<?> reader
                    ? Proxy.newProxyInstance(loader, new Class<?>[] {ResidentReader.class}, (of, step, key) -> {
                        steps.add(step.getName());
                        return step.invoke(reader, key);
                    })
                    : result;
        });
    }

    /** However a connection ends, its descriptor is closed once, and no other descriptor instead. */
    @Test
    void noDescriptorIsLost() throws Exception {
        start();
        proxy.client().get("/miss").response();
        List<RawClient> others = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            others.add(proxy.client());
            others.get(i).get("/a").response();
        }
        awaitOpened();
        long before = descriptors();
        for (int round = 0; round < 40; round++) {
            List<RawClient> clients = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                clients.add(new RawClient(proxy.address()));
            }
            clients.get(0).get("/a").response();
            clients.get(0).close();
            clients.get(1).get("/miss").response();
            clients.get(1).close();
            clients.get(2).get("/a").reset();
            clients.get(3).get("/miss").reset();
            clients.get(4).get("/a", "Connection: close\r\n").in.readToEnd();
            clients.get(4).close();
            clients.get(5).reset();
            others.get(round % 10).get(round % 3 == 0 ? "/miss" : "/a").response();
        }
        ProxyExtension.await("the others are left", () -> proxy.counted(Counter.CLIENT_CONNECTIONS) == 11);
        for (RawClient other : others) {
            assertArrayEquals(CONTENT, other.get("/a").response().content());
        }
        proxy.settle();
        ProxyExtension.await("as many descriptors as before", () -> descriptors() <= before + 2);
    }

    private void awaitOpened() {
        ProxyExtension.await("all are open", () -> proxy.counted(Counter.CLIENT_CONNECTIONS) == 11);
    }

    private static long descriptors() {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return open.count();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
