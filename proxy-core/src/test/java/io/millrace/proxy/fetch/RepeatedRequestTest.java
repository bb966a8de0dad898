package io.millrace.proxy.fetch;

import static io.millrace.proxy.fetch.FetchTest.bytes;
import static io.millrace.proxy.fetch.ScriptedOrigin.OK;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.fetch.OriginFailure.Reason;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests when a request that met the end of a reused connection is sent again: RFC 9110 s9.2.2, RFC 9112 s9.3.1. */
class RepeatedRequestTest extends FetchFixture {
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
}
