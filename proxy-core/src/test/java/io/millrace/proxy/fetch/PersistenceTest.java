package io.millrace.proxy.fetch;

import static io.millrace.proxy.fetch.ScriptedOrigin.OK;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * Tests which connections are not reused: those that are to close, and those with unexpected bytes (RFC 9112 s6.3,
 * s9.3).
 */
class PersistenceTest extends FetchFixture {
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
    void unexpectedBytesCloseAnUnusedConnection() throws Exception {
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
}
