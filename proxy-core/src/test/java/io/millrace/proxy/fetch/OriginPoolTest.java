package io.millrace.proxy.fetch;

import static io.millrace.proxy.fetch.FetchTest.bytes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.fetch.OriginFailure.Reason;
import io.millrace.proxy.http.FieldSection;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Which connection a call gets, how long it is kept, and when a request is repeated. */
class OriginPoolTest extends FetchFixture {

    private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

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
            fetch(get(origin.origin().perhapsService()));
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
            // Whichever ended last is taken, again and again; so the other one can grow old.
            mayAnswer.forEach(each -> each.release(3));
            String last = fetch(get(origin.origin())).content();
            assertEquals(last, fetch(get(origin.origin())).content());
            assertEquals(last, fetch(get(origin.origin())).content());
            assertEquals(2, origin.connectionsAccepted());
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

    /** The limit of each call counts: under load, too, there are not more of them than the latest may have. */
    @Test
    void whereFewerAreAllowedThanBeforeConnectionsEndBehindTheirCalls() throws Exception {
        Semaphore arrived = new Semaphore(0);
        Semaphore mayAnswer = new Semaphore(0);
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            while (peer.readHead() != null) {
                arrived.release();
                mayAnswer.acquire();
                peer.send(OK);
            }
        })) {
            FetchSettings three = settings().connectionsMax(3).build();
            FetchSettings one = settings().connectionsMax(1).build();
            List<RecordedResponse> responses = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                responses.add(new RecordedResponse());
                start(get(origin.origin(), i < 3 ? three : one), responses.get(i));
            }
            arrived.acquire(3);
            assertEquals(3, onLoop(() -> client.statistics().callsWaiting()));
            mayAnswer.release(6);
            for (RecordedResponse response : responses) {
                assertEquals("ok", response.awaitComplete().content());
            }
            assertEquals(1, onLoop(() -> client.statistics().connectionsOpen()));
            assertEquals(3, origin.connectionsAccepted());
        }
    }

    /** A request from before the limit was raised ends, and its connection with it: there is room for one from after. */
    @Test
    void whereMoreAreAllowedThanBeforeThePlaceOfOneThatEndsIsUsed() throws Exception {
        Semaphore arrived = new Semaphore(0);
        Semaphore mayAnswerFirst = new Semaphore(0);
        Semaphore mayAnswerOthers = new Semaphore(0);
        AtomicInteger number = new AtomicInteger();
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            Semaphore mayAnswer = number.getAndIncrement() == 0 ? mayAnswerFirst : mayAnswerOthers;
            while (peer.readHead() != null) {
                arrived.release();
                mayAnswer.acquire();
                peer.send(OK);
            }
        })) {
            FetchSettings one = settings().connectionsMax(1).build();
            FetchSettings two = settings().connectionsMax(2).build();
            RecordedResponse first = new RecordedResponse();
            RecordedResponse second = new RecordedResponse();
            RecordedResponse third = new RecordedResponse();
            start(get(origin.origin(), one), first);
            arrived.acquire();
            start(get(origin.origin(), two), second);
            arrived.acquire();
            start(get(origin.origin(), two), third);
            assertEquals(1, onLoop(() -> client.statistics().callsWaiting()));
            mayAnswerFirst.release();
            first.awaitComplete();
            assertTrue(arrived.tryAcquire(RecordedResponse.WAIT_SECONDS, TimeUnit.SECONDS), "the third waits on");
            mayAnswerOthers.release(2);
            second.awaitComplete();
            third.awaitComplete();
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
    void bytesThatNobodyAskedForCloseAnUnusedConnection() throws Exception {
        CountDownLatch mayDisturb = new CountDownLatch(1);
        CountDownLatch closed = new CountDownLatch(1);
        try (ScriptedOrigin origin = ScriptedOrigin.running(
                peer -> {
                    peer.readHead();
                    peer.send(OK);
                    mayDisturb.await();
                    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison");
                    assertTrue(peer.isClosedByPeer());
                    closed.countDown();
                },
                ScriptedOrigin.answering(OK))) {
            fetch(get(origin.origin()));
            mayDisturb.countDown();
            assertTrue(closed.await(RecordedResponse.WAIT_SECONDS, TimeUnit.SECONDS));
            assertEquals("ok", fetch(get(origin.origin())).content());
            assertEquals(2, origin.connectionsAccepted());
        }
    }

    @Test
    void rfc9112Section6_3_bytesBehindAResponseEndTheConnection() throws Exception {
        for (String wire : List.of(
                OK + "X",
                OK + "\r\n",
                OK + OK,
                "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1",
                "HTTP/1.1 204 No Content\r\n\r\nok",
                "HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\nok",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n0\r\n\r\n")) {
            try (ScriptedOrigin origin = ScriptedOrigin.running(
                    peer -> {
                        peer.readHead();
                        peer.send(wire);
                        assertTrue(peer.isClosedByPeer());
                    },
                    ScriptedOrigin.answering(OK))) {
                fetch(get(origin.origin()));
                assertEquals("ok", fetch(get(origin.origin())).content(), wire);
                assertEquals(2, origin.connectionsAccepted(), wire);
            }
        }
    }

    @Test
    void bytesBehindAResponseAreNotTakenForTheResponseOfTheNextCall() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(
                peer -> {
                    peer.readHead();
                    peer.send(OK + "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison");
                    assertTrue(peer.isClosedByPeer());
                },
                ScriptedOrigin.answering(OK))) {
            FetchSettings one = settings().connectionsMax(1).build();
            RecordedResponse first = new RecordedResponse();
            RecordedResponse waiting = new RecordedResponse();
            onLoop(() -> {
                client.fetch(get(origin.origin(), one), first);
                return client.fetch(get(origin.origin(), one), waiting);
            });
            assertEquals("ok", first.awaitComplete().content());
            assertEquals("ok", waiting.awaitComplete().content());
            assertEquals(2, origin.connectionsAccepted());
        }
    }

    /** A request that may leave HTTP takes no used connection, and the place of one where there is no other. */
    @Test
    void requestThatMaySwitchHasAConnectionOfItsOwn() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(ScriptedOrigin.answering(OK))) {
            FetchSettings one = settings().connectionsMax(1).build();
            fetch(get(origin.origin(), one));
            fetch(request(origin.origin(), builder -> builder.settings(one).upgrade("foo")));
            assertEquals(2, origin.connectionsAccepted());
            fetch(get(origin.origin(), one));
            assertEquals(3, origin.connectionsAccepted());
        }
    }

    @Test
    void contentBehindAHeadResponseEndsTheConnection() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(
                peer -> {
                    peer.readHead();
                    peer.send(OK);
                    assertTrue(peer.isClosedByPeer());
                },
                ScriptedOrigin.answering(OK))) {
            assertEquals(
                    0,
                    fetch(request(origin.origin(), builder -> builder.method("HEAD")))
                            .contentLength());
            assertEquals("ok", fetch(get(origin.origin())).content());
            assertEquals(2, origin.connectionsAccepted());
        }
    }

    @Test
    void rfc9112Section9_3_aConnectionThatIsToCloseIsNotUsedAgain() throws Exception {
        for (String head : List.of(
                "HTTP/1.1 200 OK\r\nConnection: close\r\n",
                "HTTP/1.1 200 OK\r\nConnection: x, Close\r\n",
                "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nConnection: close\r\n",
                "HTTP/1.0 200 OK\r\n",
                "HTTP/1.0 200 OK\r\nConnection: x\r\n")) {
            try (ScriptedOrigin origin =
                    ScriptedOrigin.running(ScriptedOrigin.answering(head + "Content-Length: 2\r\n\r\nok"))) {
                fetch(get(origin.origin()));
                fetch(get(origin.origin()));
                assertEquals(2, origin.connectionsAccepted(), head);
            }
        }
    }

    @Test
    void rfc9112Section9_3_1_aRequestThatMeetsTheEndOfAReusedConnectionIsRepeatedOnce() throws Exception {
        ScriptedOrigin.Script once = peer -> {
            peer.readHead();
            peer.send(OK);
            peer.readHead();
        };
        ScriptedOrigin.Script onceThenReset = peer -> {
            peer.readHead();
            peer.send(OK);
            peer.readHead();
            peer.reset();
        };
        for (ScriptedOrigin.Script script : List.of(once, onceThenReset)) {
            try (ScriptedOrigin origin = ScriptedOrigin.running(script, ScriptedOrigin.answering(OK))) {
                fetch(get(origin.origin()));
                assertEquals("ok", fetch(get(origin.origin())).content());
                assertEquals(2, origin.connectionsAccepted());
            }
        }
        assertEquals(2, onLoop(() -> client.statistics().retries()));
    }

    @Test
    void aRequestIsRepeatedOnceAndNotTwice() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(
                peer -> {
                    peer.readHead();
                    peer.send(OK);
                    peer.readHead();
                },
                ScriptedOrigin.Peer::readHead)) {
            fetch(get(origin.origin()));
            assertEquals(Reason.RESET, fetchFailing(get(origin.origin())).reason());
            assertEquals(2, origin.connectionsAccepted());
        }
    }

    @Test
    void rfc9110Section9_2_2_whatIsNotIdempotentOrHasSentContentIsNotRepeated() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            while (peer.readHead().startsWith("GET")) {
                peer.send(OK);
            }
        })) {
            fetch(get(origin.origin()));
            assertEquals(
                    Reason.RESET,
                    fetchFailing(request(origin.origin(), builder -> builder.method("POST")))
                            .reason());
            fetch(get(origin.origin()));
            RecordedResponse put = new RecordedResponse();
            onLoop(() -> {
                OriginCall call = client.fetch(
                        request(origin.origin(), builder -> builder.method("PUT")
                                .contentLength(2)),
                        put);
                call.write(bytes("ok"));
                call.finishRequest();
                return call;
            });
            assertEquals(Reason.RESET, put.awaitFailure().reason());
            assertEquals(0, onLoop(() -> client.statistics().retries()));
        }
    }

    @Test
    void aBrokenHeadOnAReusedConnectionIsNotRepeated() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            peer.readHead();
            peer.send(OK);
            peer.readHead();
            peer.send("H");
        })) {
            fetch(get(origin.origin()));
            assertEquals(Reason.TRUNCATED, fetchFailing(get(origin.origin())).reason());
            assertEquals(1, origin.connectionsAccepted());
        }
    }

    @Test
    void callsWaitForAConnectionInTheirOrder() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            String head;
            while ((head = peer.readHead()) != null) {
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" + head.substring(5, 7));
            }
        })) {
            FetchSettings one = settings().connectionsMax(1).build();
            List<String> order = new ArrayList<>();
            List<RecordedResponse> responses = new ArrayList<>();
            onLoop(() -> {
                for (int i = 10; i < 30; i++) {
                    int number = i;
                    RecordedResponse response = new RecordedResponse() {
                        @Override
                        public void onComplete(FieldSection received) {
                            order.add(content());
                            super.onComplete(received);
                        }
                    };
                    responses.add(response);
                    client.fetch(
                            request(origin.origin(), builder -> builder.target("/" + number)
                                    .settings(one)),
                            response);
                }
                assertEquals(19, client.statistics().callsWaiting());
                return null;
            });
            for (int i = 0; i < responses.size(); i++) {
                assertEquals(
                        String.valueOf(10 + i), responses.get(i).awaitComplete().content());
            }
            assertEquals(responses.stream().map(RecordedResponse::content).toList(), order);
            assertEquals(1, origin.connectionsAccepted());
        }
    }

    @Test
    void aCallForWhichThereIsNoRoomInTheQueueIsQueueFull() throws Exception {
        CountDownLatch mayAnswer = new CountDownLatch(1);
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            while (peer.readHead() != null) {
                mayAnswer.await();
                peer.send(OK);
            }
        })) {
            FetchSettings narrow = settings().connectionsMax(1).queueMax(1).build();
            RecordedResponse active = new RecordedResponse();
            RecordedResponse waiting = new RecordedResponse();
            start(get(origin.origin(), narrow), active);
            start(get(origin.origin(), narrow), waiting);
            OriginFailure failure = fetchFailing(get(origin.origin(), narrow));
            assertEquals(Reason.QUEUE_FULL, failure.reason());
            assertEquals(
                    origin.origin() + ": 1 connections are in use and 1 calls wait already, limit=1",
                    failure.message());
            mayAnswer.countDown();
            active.awaitComplete();
            waiting.awaitComplete();
        }
    }

    @Test
    void aCallThatWaitsTooLongIsQueueTimeout() throws Exception {
        CountDownLatch mayAnswer = new CountDownLatch(1);
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            while (peer.readHead() != null) {
                mayAnswer.await();
                peer.send(OK);
            }
        })) {
            RecordedResponse active = new RecordedResponse();
            RecordedResponse patient = new RecordedResponse();
            start(get(origin.origin(), settings().connectionsMax(1).build()), active);
            start(get(origin.origin(), settings().connectionsMax(1).build()), patient);
            OriginFailure failure = fetchFailing(get(
                    origin.origin(),
                    settings().connectionsMax(1).queueTimeoutNanos(millis(50)).build()));
            assertEquals(Reason.QUEUE_TIMEOUT, failure.reason());
            assertEquals(origin.origin() + ": none of 1 connections became free within 50 ms", failure.message());
            mayAnswer.countDown();
            active.awaitComplete();
            patient.awaitComplete();
        }
    }

    @Test
    void waitingCallsGetTheRoomOfAConnectionThatFailed() throws Exception {
        try (ScriptedOrigin origin =
                ScriptedOrigin.running(ScriptedOrigin.Peer::readHead, ScriptedOrigin.answering(OK))) {
            FetchSettings one = settings().connectionsMax(1).build();
            RecordedResponse first = new RecordedResponse();
            RecordedResponse second = new RecordedResponse();
            start(get(origin.origin(), one), first);
            start(get(origin.origin(), one), second);
            assertEquals(Reason.RESET, first.awaitFailure().reason());
            assertEquals("ok", second.awaitComplete().content());
        }
    }

    @Test
    void cancelledCallsLeaveTheirPlaceToOthers() throws Exception {
        CountDownLatch mayAnswer = new CountDownLatch(1);
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            peer.readHead();
            mayAnswer.await();
            peer.send(OK);
            while (peer.readHead() != null) {
                peer.send(OK);
            }
        })) {
            FetchSettings one = settings().connectionsMax(1).build();
            RecordedResponse cancelledWhileConnecting = new RecordedResponse();
            RecordedResponse cancelledWhileWaiting = new RecordedResponse();
            RecordedResponse last = new RecordedResponse();
            onLoop(() -> {
                OriginCall connecting = client.fetch(get(origin.origin(), one), cancelledWhileConnecting);
                OriginCall waiting = client.fetch(get(origin.origin(), one), cancelledWhileWaiting);
                client.fetch(get(origin.origin(), one), last);
                connecting.cancel();
                waiting.cancel();
                assertEquals(1, client.statistics().callsWaiting());
                return null;
            });
            mayAnswer.countDown();
            assertEquals("ok", last.awaitComplete().content());
            assertEquals(1, origin.connectionsAccepted());
            assertEquals(1, cancelledWhileConnecting.ended.getCount());
            assertEquals(1, cancelledWhileWaiting.ended.getCount());
        }
    }

    /** Answers with the two lines at which a connection with a preface begins: that, and the first request's. */
    private static final ScriptedOrigin.Script FIRST_LINES = peer -> {
        String head;
        while ((head = peer.readHead()) != null) {
            String lines = head.lines().limit(2).reduce((a, b) -> a + "|" + b).orElse("");
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: " + lines.length() + "\r\n\r\n" + lines);
        }
    };

    private OriginRequest prefaced(ScriptedOrigin origin, String preface, FetchSettings settings) {
        return request(
                origin.origin(), builder -> builder.preface((preface + "\r\n").getBytes(StandardCharsets.US_ASCII))
                        .settings(settings));
    }

    @Test
    void aConnectionWithAPrefaceCarriesOneRequest() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(FIRST_LINES)) {
            FetchSettings settings = settings().build();
            assertEquals(
                    "GET / HTTP/1.1|Host: origin.test",
                    fetch(get(origin.origin())).content());
            assertEquals(
                    "one|GET / HTTP/1.1",
                    fetch(prefaced(origin, "one", settings)).content());
            assertEquals(
                    "two|GET / HTTP/1.1",
                    fetch(prefaced(origin, "two", settings)).content());
            assertEquals(
                    "GET / HTTP/1.1|Host: origin.test",
                    fetch(get(origin.origin())).content());
            assertEquals(3, origin.connectionsAccepted());
            assertEquals(1, (long) onLoop(() -> client.statistics().connectionsIdle()));
        }
    }

    @Test
    void aConnectionWithAPrefaceMakesRoomAndWaitsInTheQueueAsOthersDo() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(FIRST_LINES)) {
            FetchSettings one = settings().connectionsMax(1).build();
            fetch(get(origin.origin(), one));
            RecordedResponse first = new RecordedResponse();
            RecordedResponse plain = new RecordedResponse();
            RecordedResponse last = new RecordedResponse();
            onLoop(() -> {
                client.fetch(prefaced(origin, "one", one), first);
                client.fetch(get(origin.origin(), one), plain);
                client.fetch(prefaced(origin, "two", one), last);
                assertEquals(2, client.statistics().callsWaiting());
                return null;
            });
            assertEquals("one|GET / HTTP/1.1", first.awaitComplete().content());
            assertEquals(
                    "GET / HTTP/1.1|Host: origin.test", plain.awaitComplete().content());
            assertEquals("two|GET / HTTP/1.1", last.awaitComplete().content());
        }
    }

    @Test
    void aConnectionWithThePrefaceOfACallThatIsGoneIsNobodyElses() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(FIRST_LINES)) {
            FetchSettings one = settings().connectionsMax(1).build();
            RecordedResponse plain = new RecordedResponse();
            onLoop(() -> {
                OriginCall gone = client.fetch(prefaced(origin, "one", one), new RecordedResponse());
                client.fetch(get(origin.origin(), one), plain);
                gone.cancel();
                return null;
            });
            assertEquals(
                    "GET / HTTP/1.1|Host: origin.test", plain.awaitComplete().content());
        }
    }

    @Test
    void aConnectionThatNobodyWaitsForAnyMoreIsKept() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(ScriptedOrigin.answering(OK))) {
            runOnLoop(() ->
                    client.fetch(get(origin.origin()), new RecordedResponse()).cancel());
            Awaitility.await().until(() -> onLoop(() -> client.statistics().connectionsIdle()) == 1);
            fetch(get(origin.origin()));
            assertEquals(1, origin.connectionsAccepted());
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
    void manyThatWaitForWhatCannotBeConnectedToFailOneAfterTheOther() throws Exception {
        int many = 20_000;
        AtomicBoolean denied = new AtomicBoolean();
        AddressCheck check = (address, port) -> !denied.get();
        FetchSettings one =
                settings().connectionsMax(1).queueMax(many).keepAlive(false).build();
        CountDownLatch mayAnswer = new CountDownLatch(1);
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            peer.readHead();
            mayAnswer.await();
            peer.send(OK);
        })) {
            OriginRequest request =
                    request(origin.origin(), builder -> builder.settings(one).addresses(check));
            RecordedResponse first = new RecordedResponse();
            start(request, first);
            List<RecordedResponse> others = new ArrayList<>();
            runOnLoop(() -> {
                for (int i = 0; i < many; i++) {
                    RecordedResponse other = new RecordedResponse();
                    others.add(other);
                    client.fetch(request, other);
                }
            });
            Awaitility.await().until(() -> onLoop(() -> client.statistics().connectionsActive()) == 1);
            denied.set(true);
            mayAnswer.countDown();
            first.awaitComplete();
            for (RecordedResponse other : others) {
                assertEquals(Reason.DESTINATION, other.awaitFailure().reason());
            }
            assertEquals(0, onLoop(() -> client.statistics().callsWaiting()));
            assertEquals(0, onLoop(() -> client.statistics().connectionsConnecting()));
        }
    }
}
