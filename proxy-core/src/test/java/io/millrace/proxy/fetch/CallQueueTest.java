package io.millrace.proxy.fetch;

import static io.millrace.proxy.fetch.ScriptedOrigin.OK;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.fetch.OriginFailure.Reason;
import io.millrace.proxy.http.FieldSection;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Tests calls that wait for a connection: their number, time and order. */
class CallQueueTest extends FetchFixture {
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
                    origin.origin() + ": 1 connections are in use and 1 requests are already waiting, limit=1",
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

    /** The limit of each call applies: even under load there are no more connections than the latest limit permits. */
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

    /** A request from before the limit was raised ends with its connection: one from after it can begin. */
    @Test
    void afterALimitIncreaseFreedPlacesAreUsed() throws Exception {
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
    void manyWaitingRequestsFailInTurnWhenNoConnectionSucceeds() throws Exception {
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
