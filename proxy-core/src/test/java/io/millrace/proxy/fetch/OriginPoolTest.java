package io.millrace.proxy.fetch;

import static io.millrace.proxy.fetch.ScriptedOrigin.OK;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.fetch.http1.KeepAlive;
import io.millrace.proxy.http.FieldSection;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Tests the choice of the connection of a call, and the lifetime of idle connections. */
class OriginPoolTest extends FetchFixture {
    @Test
    void aConnectionIsUsedAgain() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(ScriptedOrigin.answering(OK))) {
            for (int i = 0; i < 5; i++) {
                fetch(get(origin.origin()));
            }
            assertEquals(1, origin.connectionsAccepted());
            onLoop(() -> {
                OriginStatistics statistics = client.statistics();
                assertEquals(5, statistics.requests());
                assertEquals(1, statistics.connects());
                assertEquals(4, statistics.reuses());
                assertEquals(1, statistics.connectionsIdle());
                assertEquals(0, statistics.connectionsActive());
                return null;
            });
        }
    }

    @Test
    void originsDoNotShareConnections() throws Exception {
        try (ScriptedOrigin one = ScriptedOrigin.running(ScriptedOrigin.answering(OK));
                ScriptedOrigin two = ScriptedOrigin.running(ScriptedOrigin.answering(OK))) {
            fetch(get(one.origin()));
            fetch(get(two.origin()));
            fetch(get(Origin.http("localhost", one.port())));
            assertEquals(2, one.connectionsAccepted());
            assertEquals(1, two.connectionsAccepted());
        }
    }

    @Test
    void aPortThatIsNamedMakesNoPoolOfItsOwnWhereNoServiceRecordsAreAskedFor() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(ScriptedOrigin.answering(OK))) {
            fetch(get(origin.origin()));
            fetch(get(origin.origin().withSrv()));
            assertEquals(1, origin.connectionsAccepted());
        }
    }

    @Test
    void theConnectionUsedLastIsTakenFirst() throws Exception {
        Semaphore arrived = new Semaphore(0);
        List<Semaphore> mayAnswer = List.of(new Semaphore(0), new Semaphore(0));
        AtomicInteger number = new AtomicInteger();
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            int own = number.getAndIncrement();
            while (peer.readHead() != null) {
                arrived.release();
                mayAnswer.get(own).acquire();
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n" + own);
            }
        })) {
            RecordedResponse first = new RecordedResponse();
            RecordedResponse second = new RecordedResponse();
            start(get(origin.origin()), first);
            start(get(origin.origin()), second);
            arrived.acquire(2);
            mayAnswer.get(1).release();
            mayAnswer.get(0).release();
            first.awaitComplete();
            second.awaitComplete();
            // The connection that ended last is used repeatedly, so the other one can expire.
            mayAnswer.forEach(each -> each.release(3));
            String last = fetch(get(origin.origin())).content();
            assertEquals(last, fetch(get(origin.origin())).content());
            assertEquals(last, fetch(get(origin.origin())).content());
            assertEquals(2, origin.connectionsAccepted());
        }
    }

    /**
     * A request that may switch protocols uses no pooled connection, and takes the place of an idle one if there is no
     * other.
     */
    @Test
    void requestThatMaySwitchHasAConnectionOfItsOwn() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(ScriptedOrigin.answering(OK))) {
            FetchSettings one = settings().connectionsMax(1).build();
            fetch(get(origin.origin(), one));
            fetch(request(origin.origin(), builder -> builder.settings(one).upgrade("foo")));
            assertEquals(2, origin.connectionsAccepted());
            fetch(get(origin.origin(), one));
            assertEquals(2, origin.connectionsAccepted());
        }
    }

    /** Open tunnels, and requests for tunnels, take no place from other requests. One above the limit does not wait. */
    @Test
    void tunnelsAreCountedApart() throws Exception {
        CountDownLatch mayAnswer = new CountDownLatch(1);
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            String head;
            while ((head = peer.readHead()) != null) {
                if (head.contains("Upgrade")) {
                    mayAnswer.await();
                }
                peer.send(OK);
            }
        })) {
            FetchSettings one =
                    settings().connectionsMax(1).tunnelsMax(2).queueMax(0).build();
            OriginRequest upgrade =
                    request(origin.origin(), builder -> builder.settings(one).upgrade("foo"));
            RecordedResponse first = new RecordedResponse();
            RecordedResponse second = new RecordedResponse();
            start(upgrade, first);
            start(upgrade, second);
            fetch(get(origin.origin(), one));
            OriginFailure failure = fetchFailing(upgrade);
            assertEquals(OriginFailure.Reason.TUNNEL_LIMIT, failure.reason());
            assertEquals(origin.origin() + ": 2 tunnels are open, limit=2 (origin.tunnels_max)", failure.message());
            assertTrue(failure.reason().isUnavailable());
            mayAnswer.countDown();
            first.awaitComplete();
            second.awaitComplete();
            fetch(upgrade);
        }
    }

    @Test
    void anUnusedConnectionIsClosedWhenItsTimeIsOver() throws Exception {
        CountDownLatch closed = new CountDownLatch(1);
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            peer.readHead();
            peer.send(OK);
            assertTrue(peer.isClosedByPeer());
            closed.countDown();
        })) {
            fetch(get(origin.origin(), settings().keepAliveIdleNanos(millis(50)).build()));
            assertTrue(closed.await(RecordedResponse.WAIT_SECONDS, TimeUnit.SECONDS));
            assertEquals(0, onLoop(() -> client.statistics().connectionsOpen()));
        }
    }

    @Test
    void anUnusedConnectionIsNotUsedBeyondATimeThatIsShorterSince() throws Exception {
        try (ScriptedOrigin origin =
                ScriptedOrigin.running(ScriptedOrigin.answering(OK), ScriptedOrigin.answering(OK))) {
            fetch(get(origin.origin()));
            fetch(get(origin.origin(), settings().keepAliveIdleNanos(1).build()));
            assertEquals(2, origin.connectionsAccepted());
            OriginStatistics statistics = client.statistics();
            Awaitility.await().until(() -> onLoop(statistics::connectionsOpen) == 0);
        }
    }

    @Test
    void rfc2068Section19_7_1_1_theOriginsOwnTimeoutIsKept() throws Exception {
        for (String timeout : List.of("timeout=0", "max=5, Timeout=1")) {
            try (ScriptedOrigin origin = ScriptedOrigin.running(ScriptedOrigin.answering(
                    "HTTP/1.1 200 OK\r\nKeep-Alive: " + timeout + "\r\nContent-Length: 2\r\n\r\nok"))) {
                fetch(get(origin.origin()));
                fetch(get(origin.origin()));
                assertEquals(2, origin.connectionsAccepted(), timeout);
            }
        }
        assertEquals(
                4_000_000_000L,
                KeepAlive.idleNanos(FieldSection.builder()
                        .add("Keep-Alive", "timeout=5, max=100")
                        .build()));
        assertEquals(
                KeepAlive.UNLIMITED,
                KeepAlive.idleNanos(FieldSection.builder()
                        .add("Keep-Alive", "timeout=x, max=1")
                        .build()));
        assertEquals(KeepAlive.UNLIMITED, KeepAlive.idleNanos(FieldSection.EMPTY));
    }

    @Test
    void noMoreUnusedConnectionsAreKeptThanAllowed() throws Exception {
        CyclicBarrier together = new CyclicBarrier(3);
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            peer.readHead();
            together.await();
            peer.send(OK);
            peer.readHead();
        })) {
            FetchSettings settings = settings().idleConnectionsMax(1).build();
            List<RecordedResponse> responses = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                responses.add(new RecordedResponse());
                start(get(origin.origin(), settings), responses.get(i));
            }
            for (RecordedResponse response : responses) {
                response.awaitComplete();
            }
            assertEquals(1, onLoop(() -> client.statistics().connectionsOpen()));
        }
    }

    @Test
    void aConnectionWithoutWaitingCallsIsKept() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(ScriptedOrigin.answering(OK))) {
            runOnLoop(() ->
                    client.fetch(get(origin.origin()), new RecordedResponse()).cancel());
            Awaitility.await().until(() -> onLoop(() -> client.statistics().connectionsIdle()) == 1);
            fetch(get(origin.origin()));
            assertEquals(1, origin.connectionsAccepted());
        }
    }
}
