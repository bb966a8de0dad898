package io.millrace.proxy.fetch;

import static io.millrace.proxy.fetch.ScriptedOrigin.OK;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.origins.OriginConfig.Http2;
import io.millrace.proxy.fetch.OriginFailure.Reason;
import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.Promise;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the limit of connections to an origin over several event loops, each with its own client. */
class SharedLimitTest {
    private static final int LOOPS = 3;

    private final ConnectionTotals totals = new ConnectionTotals();
    private final List<EventLoop> loops = new ArrayList<>();
    private final List<OriginClient> clients = new ArrayList<>();
    private MultiThreadIoEventLoopGroup group;

    @BeforeEach
    void open() throws Exception {
        group = new MultiThreadIoEventLoopGroup(
                LOOPS, Epoll.isAvailable() ? EpollIoHandler.newFactory() : NioIoHandler.newFactory());
        for (int i = 0; i < LOOPS; i++) {
            EventLoop loop = group.next();
            loops.add(loop);
            clients.add(on(i, () -> OriginClient.builder(loop).totals(totals).build()));
        }
    }

    @AfterEach
    void close() throws Exception {
        group.shutdownGracefully(0, RecordedResponse.WAIT_SECONDS, TimeUnit.SECONDS)
                .sync();
    }

    private <T> T on(int loop, Callable<T> task) throws Exception {
        return loops.get(loop).submit(task).get(RecordedResponse.WAIT_SECONDS, TimeUnit.SECONDS);
    }

    private RecordedResponse start(int loop, ScriptedOrigin origin, UnaryOperator<OriginRequest.Builder> more)
            throws Exception {
        RecordedResponse response = new RecordedResponse();
        OriginRequest request = more.apply(OriginRequest.to(origin.origin()).fields(FetchFixture.FIELDS))
                .build();
        on(loop, () -> clients.get(loop).fetch(request, response));
        return response;
    }

    private RecordedResponse start(int loop, ScriptedOrigin origin, String path, int limit) throws Exception {
        return start(loop, origin, builder -> builder.target(path).settings(limited(limit)));
    }

    private static FetchSettings limited(int limit) {
        return FetchSettings.builder().connectionsTotalMax(limit).build();
    }

    private long waits() throws Exception {
        long sum = 0;
        for (int i = 0; i < LOOPS; i++) {
            OriginClient client = clients.get(i);
            sum += on(i, () -> client.statistics().waitsOfProcess());
        }
        return sum;
    }

    /** Closes all clients: every place must be free then. */
    private void assertNothingIsLeft(ScriptedOrigin origin) throws Exception {
        assertNothingIsLeft(origin.origin());
    }

    private void assertNothingIsLeft(Origin origin) throws Exception {
        for (int i = 0; i < LOOPS; i++) {
            OriginClient client = clients.get(i);
            on(i, () -> {
                client.close();
                return null;
            });
        }
        Awaitility.await().until(() -> totals.connections(origin) == 0);
    }

    @Test
    void theLimitHoldsOverAllEventLoops() throws Exception {
        AtomicInteger inProgress = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            while (peer.readHead() != null) {
                most.accumulateAndGet(inProgress.incrementAndGet(), Math::max);
                inProgress.decrementAndGet();
                peer.send(OK);
            }
        })) {
            List<RecordedResponse> responses = new ArrayList<>();
            for (int i = 0; i < 90; i++) {
                responses.add(start(i % LOOPS, origin, "/" + i, 2));
            }
            for (RecordedResponse response : responses) {
                assertEquals("ok", response.awaitComplete().content());
            }
            assertTrue(most.get() <= 2, () -> "at the same time: " + most);
            assertTrue(waits() > 0);
            assertTrue(totals.connections(origin.origin()) <= 2);
            assertNothingIsLeft(origin);
        }
    }

    @Test
    void anIdleConnectionOfAnotherEventLoopIsClosedForACallThatWaits() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(ScriptedOrigin.answering(OK))) {
            for (int loop = 0; loop < LOOPS; loop++) {
                start(loop, origin, "/", 1).awaitComplete();
                assertEquals(1, totals.connections(origin.origin()));
            }
            assertEquals(LOOPS, origin.connectionsAccepted());
            assertNothingIsLeft(origin);
        }
    }

    /** Each event loop has an idle connection from before the change; it serves once more. */
    @Test
    void afterALowerLimitExcessConnectionsEndBehindTheirCalls() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(ScriptedOrigin.answering(OK))) {
            for (int limit : new int[] {LOOPS, 1}) {
                for (int loop = 0; loop < LOOPS; loop++) {
                    start(loop, origin, "/", limit).awaitComplete();
                }
                assertEquals(limit, totals.connections(origin.origin()));
            }
            assertEquals(LOOPS, origin.connectionsAccepted());
            assertNothingIsLeft(origin);
        }
    }

    /** The first event loop has many calls and the only connection; a call of the second is next all the same. */
    @Test
    void aBusyEventLoopLeavesItsPlaceToAnother() throws Exception {
        Semaphore arrived = new Semaphore(0);
        Semaphore mayAnswer = new Semaphore(0);
        ConcurrentLinkedQueue<String> order = new ConcurrentLinkedQueue<>();
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            String head;
            while ((head = peer.readHead()) != null) {
                order.add(head.substring(4, head.indexOf(" HTTP")));
                arrived.release();
                mayAnswer.acquire();
                peer.send(OK);
            }
        })) {
            List<RecordedResponse> responses = new ArrayList<>();
            responses.add(start(0, origin, "/a0", 1));
            arrived.acquire();
            for (int i = 1; i < 4; i++) {
                responses.add(start(0, origin, "/a" + i, 1));
            }
            responses.add(start(1, origin, "/b", 1));
            mayAnswer.release(5);
            for (RecordedResponse response : responses) {
                response.awaitComplete();
            }
            assertEquals(List.of("/a0", "/b", "/a1", "/a2", "/a3"), List.copyOf(order));
            assertNothingIsLeft(origin);
        }
    }

    @Test
    void aCallThatWaitsTooLongNamesTheLimit() throws Exception {
        Semaphore mayAnswer = new Semaphore(0);
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            while (peer.readHead() != null) {
                mayAnswer.acquire();
                peer.send(OK);
            }
        })) {
            RecordedResponse first = start(0, origin, "/", 1);
            FetchSettings impatient = FetchSettings.builder()
                    .connectionsTotalMax(1)
                    .queueTimeoutNanos(TimeUnit.MILLISECONDS.toNanos(50))
                    .build();
            OriginFailure failure =
                    start(1, origin, builder -> builder.settings(impatient)).awaitFailure();
            assertEquals(Reason.QUEUE_TIMEOUT, failure.reason());
            assertEquals(
                    origin.origin() + ": none of 1 connections of all event loops (connections_total_max) became free"
                            + " within 50 ms",
                    failure.message());
            mayAnswer.release(2);
            first.awaitComplete();
            start(1, origin, "/", 1).awaitComplete();
            assertNothingIsLeft(origin);
        }
    }

    /** Tunnels have a limit of their own, and connections without a limit are counted, for a limit that is set later. */
    @Test
    void tunnelsAreNotCounted() throws Exception {
        Semaphore mayAnswer = new Semaphore(0);
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            while (peer.readHead() != null) {
                mayAnswer.acquire();
                peer.send(OK);
            }
        })) {
            RecordedResponse tunnel = start(0, origin, builder -> builder.upgrade("foo"));
            assertEquals(0, totals.connections(origin.origin()));
            RecordedResponse unlimited = start(1, origin, "/", 0);
            assertEquals(1, totals.connections(origin.origin()));
            mayAnswer.release(3);
            tunnel.awaitComplete();
            unlimited.awaitComplete();
            start(2, origin, "/", 1).awaitComplete();
            assertNothingIsLeft(origin);
        }
    }

    @Test
    void placesOfFailedConnectionsAreFree() throws Exception {
        ScriptedOrigin closed = ScriptedOrigin.running(ScriptedOrigin.answering(OK));
        closed.close();
        for (int i = 0; i < 6; i++) {
            assertEquals(
                    Reason.CONNECT_REFUSED,
                    start(i % LOOPS, closed, "/", 1).awaitFailure().reason());
        }
        assertNothingIsLeft(closed);
    }

    /** With one place for several event loops, a shared connection ends for each change of the event loop. */
    @Test
    void sharedConnectionsTakeTurnsToo() throws Exception {
        try (ScriptedOrigin origin =
                ScriptedOrigin.running(peer -> Http2Peer.begin(peer).echo())) {
            List<RecordedResponse> responses = new ArrayList<>();
            for (int i = 0; i < 30; i++) {
                int number = i;
                responses.add(start(i % LOOPS, origin, builder -> builder.target("/" + number)
                        .http2(Http2.PRIOR_KNOWLEDGE)
                        .settings(limited(1))));
            }
            for (int i = 0; i < responses.size(); i++) {
                assertEquals("/" + i, responses.get(i).awaitComplete().content());
            }
            assertTrue(totals.connections(origin.origin()) <= 1);
            assertNothingIsLeft(origin);
        }
    }

    /** Rules with different limits can share a pool. The first waiting call has the lower limit here. */
    @Test
    void aPoolWaitsWithTheLimitOfItsFirstCall() throws Exception {
        Semaphore mayAnswer = new Semaphore(0);
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            while (peer.readHead() != null) {
                mayAnswer.acquire();
                peer.send(OK);
            }
        })) {
            RecordedResponse busy = start(1, origin, "/", 1);
            RecordedResponse cancelled = new RecordedResponse();
            OriginRequest request = OriginRequest.to(origin.origin())
                    .fields(FetchFixture.FIELDS)
                    .settings(limited(1))
                    .build();
            OriginCall first = on(0, () -> clients.get(0).fetch(request, cancelled));
            RecordedResponse second = start(0, origin, "/", 2);
            settle(0);
            assertEquals(1, totals.connections(origin.origin()), "the first call may not exceed its limit");
            on(0, () -> {
                first.cancel();
                return null;
            });
            settle(0);
            assertEquals(2, totals.connections(origin.origin()), "the second call is the first now");
            mayAnswer.release(2);
            busy.awaitComplete();
            second.awaitComplete();
            assertNothingIsLeft(origin);
        }
    }

    /** Answers each request over HTTP/2 when the test permits it. */
    private static final class Answers {
        private final Map<String, Semaphore> permits = new ConcurrentHashMap<>();
        private final ConcurrentLinkedQueue<String> order = new ConcurrentLinkedQueue<>();
        private final Map<String, CountDownLatch> arrivals = new ConcurrentHashMap<>();

        ScriptedOrigin.Script script() {
            return peer -> {
                Http2Peer wire = Http2Peer.begin(peer);
                Http2Peer.Request request;
                while ((request = wire.nextRequest()) != null) {
                    order.add(request.path());
                    arrival(request.path()).countDown();
                    permit(request.path()).acquire();
                    wire.respond(request.stream(), request.path());
                }
            };
        }

        private Semaphore permit(String path) {
            return permits.computeIfAbsent(path, key -> new Semaphore(0));
        }

        private CountDownLatch arrival(String path) {
            return arrivals.computeIfAbsent(path, key -> new CountDownLatch(1));
        }

        void allow(String... paths) {
            for (String path : paths) {
                permit(path).release();
            }
        }

        void await(String path) throws InterruptedException {
            assertTrue(arrival(path).await(RecordedResponse.WAIT_SECONDS, TimeUnit.SECONDS), () -> path + ": " + order);
        }
    }

    /** Resolves names when the test permits it. */
    private static final class LateResolver extends ScriptedResolver {
        private final CompletableFuture<Void> permitted = new CompletableFuture<>();

        LateResolver(EventLoop loop) {
            super(loop, Map.of());
        }

        @Override
        protected void doResolveAll(String name, Promise<List<InetAddress>> promise) {
            permitted.thenRun(() -> promise.setSuccess(List.of(InetAddress.getLoopbackAddress())));
        }
    }

    private RecordedResponse start(int loop, Origin origin, String path, FetchSettings settings) throws Exception {
        RecordedResponse response = new RecordedResponse();
        OriginRequest request = OriginRequest.to(origin)
                .fields(FetchFixture.FIELDS)
                .target(path)
                .http2(Http2.PRIOR_KNOWLEDGE)
                .settings(settings)
                .build();
        on(loop, () -> clients.get(loop).fetch(request, response));
        return response;
    }

    /** Waits until an event loop has run all tasks that other event loops submitted so far, and those that follow. */
    private void settle(int loop) throws Exception {
        for (int i = 0; i < 3; i++) {
            on(loop, () -> null);
        }
    }

    /** Waits until the event loops that wait for a connection have told so the one that has them. */
    private void settleAll() throws Exception {
        settle(2);
        settle(1);
        settle(0);
    }

    private void useResolver(int loop, ScriptedResolver resolver) throws Exception {
        OriginClient before = clients.get(loop);
        clients.set(loop, on(loop, () -> {
            before.close();
            return OriginClient.builder(loops.get(loop))
                    .totals(totals)
                    .resolver(resolver)
                    .build();
        }));
    }

    /** The call of the second event loop waits when the first has no connection yet that it could leave. */
    @Test
    void aSharedConnectionLooksForPoolsThatWaitedBeforeItWasMade() throws Exception {
        LateResolver late = new LateResolver(loops.get(0));
        useResolver(0, late);
        useResolver(1, new ScriptedResolver(loops.get(1), Map.of("o.test", List.of("127.0.0.1"))));
        Answers answers = new Answers();
        try (ScriptedOrigin server = ScriptedOrigin.running(answers.script())) {
            Origin origin = Origin.http("o.test", server.port());
            RecordedResponse first = start(0, origin, "/a", limited(1));
            RecordedResponse other = start(1, origin, "/b", limited(1));
            settle(0);
            on(0, () -> late.permitted.complete(null));
            answers.await("/a");
            RecordedResponse next = start(0, origin, "/c", limited(1));
            answers.allow("/a", "/b", "/c");
            for (RecordedResponse response : List.of(first, other, next)) {
                response.awaitComplete();
            }
            assertEquals(List.of("/a", "/b", "/c"), List.copyOf(answers.order));
            assertNothingIsLeft(origin);
        }
    }

    /** Each of two waiting event loops gets one of the two connections of a third, whose calls never end. */
    @Test
    void everyWaitingEventLoopGetsASharedConnectionInTurn() throws Exception {
        FetchSettings one = FetchSettings.builder()
                .connectionsTotalMax(2)
                .http2StreamsMax(1)
                .build();
        Answers answers = new Answers();
        try (ScriptedOrigin server = ScriptedOrigin.running(answers.script())) {
            Origin origin = server.origin();
            List<RecordedResponse> responses = new ArrayList<>();
            responses.add(start(0, origin, "/a1", one));
            answers.await("/a1");
            responses.add(start(0, origin, "/a2", one));
            answers.await("/a2");
            responses.add(start(1, origin, "/b", one));
            responses.add(start(2, origin, "/c", one));
            settleAll();
            responses.add(start(0, origin, "/d1", one));
            responses.add(start(0, origin, "/d2", one));
            answers.allow("/a1");
            answers.await("/b");
            settleAll();
            answers.allow("/a2");
            answers.await("/c");
            answers.allow("/b", "/c", "/d1", "/d2");
            for (RecordedResponse response : responses) {
                response.awaitComplete();
            }
            assertEquals(
                    List.of("/a1", "/a2", "/b", "/c"),
                    List.copyOf(answers.order).subList(0, 4));
            assertNothingIsLeft(server);
        }
    }

    /** The second event loop must yield its connection, but its call does not end; the call of the first one does. */
    @Test
    void aConnectionThatBecomesIdleIsLeftEvenIfAnotherMustYield() throws Exception {
        FetchSettings one = FetchSettings.builder()
                .connectionsTotalMax(2)
                .http2StreamsMax(1)
                .build();
        Answers answers = new Answers();
        try (ScriptedOrigin server = ScriptedOrigin.running(answers.script())) {
            Origin origin = server.origin();
            List<RecordedResponse> responses = new ArrayList<>();
            responses.add(start(0, origin, "/a", one));
            answers.await("/a");
            responses.add(start(1, origin, "/b", one));
            answers.await("/b");
            CountDownLatch yieldClaimed = new CountDownLatch(1);
            loops.get(0).execute(() -> {
                try {
                    yieldClaimed.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            responses.add(start(2, origin, "/c", one));
            settle(2);
            settle(1);
            yieldClaimed.countDown();
            responses.add(start(0, origin, "/d", one));
            settle(0);
            answers.allow("/a");
            answers.await("/c");
            answers.allow("/b", "/c", "/d");
            for (RecordedResponse response : responses) {
                response.awaitComplete();
            }
            assertEquals(List.of("/a", "/b", "/c", "/d"), List.copyOf(answers.order));
            assertNothingIsLeft(server);
        }
    }
}
