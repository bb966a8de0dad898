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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
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
        for (int i = 0; i < LOOPS; i++) {
            OriginClient client = clients.get(i);
            on(i, () -> {
                client.close();
                return null;
            });
        }
        Awaitility.await().until(() -> totals.connections(origin.origin()) == 0);
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
}
