package io.millrace.proxy.fetch;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Tests connections that begin with a preface: each carries one request, and waits and counts like others. */
class PrefacedConnectionTest extends FetchFixture {
    /**
     * Answers with the two lines at the start of a connection with a preface: the preface, and the first line of the
     * request.
     */
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
    void aConnectionWithThePrefaceOfACancelledCallIsNotReused() throws Exception {
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
}
