package io.millrace.proxy.fetch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.fetch.response.ResponseFraming;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Tests single requests and responses. */
class FetchTest extends FetchFixture {

    @Test
    void sendsTheRequestAndReadsTheResponse() throws Exception {
        AtomicReference<String> seen = new AtomicReference<>();
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            seen.set(peer.readHead());
            peer.send("HTTP/1.1 200 Fine\r\nContent-Length: 5\r\nETag: \"1\"\r\n\r\nhello");
        })) {
            RecordedResponse response = fetch(request(origin.origin(), builder -> builder.target("/a?b=%20c")));
            assertEquals("GET /a?b=%20c HTTP/1.1\r\nHost: origin.test\r\nVia: 1.1 test\r\n\r\n", seen.get());
            assertEquals(200, response.head.status());
            assertEquals("Fine", response.head.reason());
            assertEquals("\"1\"", response.head.fields().get(FieldName.ETAG));
            assertEquals(new ResponseFraming(ResponseFraming.Kind.LENGTH, 5), response.framing);
            assertEquals("hello", response.content());
            assertNull(response.trailers);
        }
    }

    @Test
    void readsChunksAndTheTrailerSection() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(
                ScriptedOrigin.answering("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: Digest\r\n\r\n"
                        + "5\r\nhello\r\n1;name=value\r\n \r\nA\r\n0123456789\r\n0\r\nDigest: sha-256=x\r\n\r\n"))) {
            RecordedResponse response = fetch(get(origin.origin()));
            assertEquals(ResponseFraming.BY_CHUNKS, response.framing);
            assertEquals("hello 0123456789", response.content());
            assertEquals("sha-256=x", response.trailers.get(FieldName.of("Digest")));
        }
    }

    @Test
    void readsAResponseThatArrivesByteByByte() throws Exception {
        String wire = "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n"
                + "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\nA: b\r\n\r\n";
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            peer.socket().setTcpNoDelay(true);
            peer.readHead();
            for (int i = 0; i < wire.length(); i++) {
                peer.send(wire.substring(i, i + 1));
            }
            peer.isClosedByPeer();
        })) {
            RecordedResponse response = fetch(get(origin.origin()));
            assertEquals(List.of(103), response.interim);
            assertEquals("abc0123456789abcdef", response.content());
            assertNotNull(response.trailers);
        }
    }

    @Test
    void rfc9112Section6_3_contentWithoutLengthEndsWithTheConnection() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            peer.readHead();
            peer.send("HTTP/1.1 200 OK\r\n\r\nuntil the end");
        })) {
            RecordedResponse response = fetch(get(origin.origin()));
            assertTrue(response.framing.isCloseDelimited());
            assertEquals(-1, response.framing.contentLength());
            assertEquals("until the end", response.content());
            assertEquals(0, onLoop(() -> client.statistics().connectionsOpen()));
        }
    }

    @Test
    void rfc9112Section6_3_headResponseHasNoContentWithAnyFraming() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(ScriptedOrigin.answering(
                "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"))) {
            OriginRequest head = request(origin.origin(), builder -> builder.method("HEAD"));
            RecordedResponse response = fetch(head);
            assertEquals(ResponseFraming.NO_CONTENT, response.framing);
            assertEquals("1000", response.head.fields().get(FieldName.CONTENT_LENGTH));
            fetch(head);
            assertEquals(1, origin.connectionsAccepted());
        }
    }

    @Test
    void rfc9112Section6_3_statuses204And304HaveNoContent() throws Exception {
        for (String head : List.of(
                "204 No Content\r\n",
                "304 Not Modified\r\nContent-Length: 77\r\n",
                "304 Not Modified\r\nTransfer-Encoding: chunked\r\n")) {
            try (ScriptedOrigin origin =
                    ScriptedOrigin.running(ScriptedOrigin.answering("HTTP/1.1 " + head + "\r\n"))) {
                assertEquals(0, fetch(get(origin.origin())).contentLength());
                fetch(get(origin.origin()));
                assertEquals(1, origin.connectionsAccepted(), head);
            }
        }
    }

    @Test
    void rfc9110Section15_2_interimResponsesComeBeforeTheFinalOne() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(
                ScriptedOrigin.answering(
                        "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"))) {
            assertEquals(List.of(102, 103), fetch(get(origin.origin())).interim);
        }
    }

    @Test
    void rfc9110Section10_1_1_contentIsSentAfter100() throws Exception {
        AtomicReference<String> content = new AtomicReference<>();
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            peer.readHead();
            peer.send("HTTP/1.1 100 Continue\r\n\r\n");
            content.set(peer.read(4));
            peer.send("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n");
        })) {
            AtomicReference<OriginCall> call = new AtomicReference<>();
            RecordedResponse response = new RecordedResponse() {
                @Override
                public void onContinue() {
                    super.onContinue();
                    call.get().write(bytes("body"));
                    call.get().finishRequest();
                }
            };
            FieldSection fields = FieldSection.builder()
                    .addAll(FIELDS)
                    .add(FieldName.EXPECT, "100-continue")
                    .build();
            onLoop(() -> {
                call.set(client.fetch(
                        request(origin.origin(), builder -> builder.method("PUT")
                                .contentLength(4)
                                .fields(fields)),
                        response));
                return null;
            });
            assertEquals(201, response.awaitComplete().head.status());
            assertTrue(response.continued);
            assertEquals("body", content.get());
        }
    }

    @Test
    void sendsContentOfKnownLength() throws Exception {
        AtomicReference<String> seen = new AtomicReference<>();
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            seen.set(peer.readHead() + peer.read(9));
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        })) {
            RecordedResponse response = new RecordedResponse();
            onLoop(() -> {
                OriginCall call = client.fetch(
                        request(origin.origin(), builder -> builder.method("POST")
                                .contentLength(9)),
                        response);
                assertFalse(call.isRequestWritable());
                call.write(bytes("some "));
                call.write(bytes("text"));
                call.finishRequest();
                return call;
            });
            response.awaitComplete();
            assertEquals(
                    "POST / HTTP/1.1\r\nHost: origin.test\r\nVia: 1.1 test\r\nContent-Length: 9\r\n\r\nsome text",
                    seen.get());
        }
    }

    @Test
    void sendsContentInChunksAsTheConnectionTakesThem() throws Exception {
        AtomicReference<String> seen = new AtomicReference<>();
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            peer.readHead();
            seen.set(peer.read(28));
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        })) {
            AtomicReference<OriginCall> call = new AtomicReference<>();
            RecordedResponse response = new RecordedResponse() {
                @Override
                public void onRequestWritable() {
                    call.get().write(bytes("hello"));
                    call.get().write(Unpooled.EMPTY_BUFFER);
                    call.get().write(bytes("0123456789"));
                    call.get().finishRequest();
                }
            };
            onLoop(() -> {
                call.set(client.fetch(
                        request(origin.origin(), builder -> builder.method("POST")
                                .chunkedContent()),
                        response));
                return null;
            });
            response.awaitComplete();
            assertEquals("5\r\nhello\r\na\r\n0123456789\r\n0\r\n", seen.get());
        }
    }

    @Test
    void rfc9112Section6_1_callersFramingFieldsAreNotSent() throws Exception {
        AtomicReference<String> seen = new AtomicReference<>();
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            seen.set(peer.readHead());
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        })) {
            FieldSection fields = FieldSection.builder()
                    .add("Host", "origin.test")
                    .add("Content-Length", "5")
                    .add("transfer-encoding", "chunked")
                    .add("CONNECTION", "upgrade")
                    .add("Upgrade", "h2c")
                    .add("Accept", "*/*")
                    .build();
            fetch(request(origin.origin(), builder -> builder.fields(fields)));
            assertEquals("GET / HTTP/1.1\r\nHost: origin.test\r\nAccept: */*\r\n\r\n", seen.get());
        }
    }

    @Test
    void asksToCloseWhenConnectionsAreNotKept() throws Exception {
        AtomicReference<String> seen = new AtomicReference<>();
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            seen.set(peer.readHead());
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
            assertTrue(peer.isClosedByPeer());
        })) {
            fetch(get(origin.origin(), settings().keepAlive(false).build()));
            assertTrue(seen.get().contains("\r\nConnection: close\r\n"));
        }
    }

    @Test
    void anAnswerBeforeTheEndOfTheContentIsHeardThoughTheOriginCloses() throws Exception {
        CountDownLatch answered = new CountDownLatch(1);
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            peer.readHead();
            peer.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig");
            answered.countDown();
        })) {
            AtomicReference<OriginCall> call = new AtomicReference<>();
            RecordedResponse response = new RecordedResponse() {
                @Override
                public void onRequestWritable() {
                    while (call.get().isRequestWritable()) {
                        call.get().write(Unpooled.wrappedBuffer(new byte[32 << 10]));
                    }
                }
            };
            onLoop(() -> {
                call.set(client.fetch(
                        request(origin.origin(), builder -> builder.method("POST")
                                .chunkedContent()),
                        response));
                return null;
            });
            assertEquals(413, response.awaitComplete().head.status());
            assertEquals("big", response.content());
            runOnLoop(() -> call.get().write(bytes("dropped")));
            assertEquals(0, onLoop(() -> client.statistics().connectionsOpen()));
        }
    }

    @Test
    void refusesMoreContentThanAnnounced() throws Exception {
        try (ScriptedOrigin origin =
                ScriptedOrigin.running(peer -> assertTrue(peer.isClosedByPeer() || peer.readToEnd() != null))) {
            onLoop(() -> {
                OriginCall call = client.fetch(
                        request(origin.origin(), builder -> builder.method("POST")
                                .contentLength(3)),
                        new RecordedResponse());
                assertThrows(IllegalStateException.class, () -> call.write(bytes("four")));
                call.cancel();
                return null;
            });
        }
    }

    @Test
    void refusesLessContentThanAnnouncedAndEndsTheConnection() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            peer.readHead();
            assertEquals("fo", peer.readToEnd());
        })) {
            AtomicReference<OriginCall> call = new AtomicReference<>();
            CountDownLatch refused = new CountDownLatch(1);
            RecordedResponse response = new RecordedResponse() {
                @Override
                public void onRequestWritable() {
                    call.get().write(bytes("fo"));
                    assertThrows(IllegalStateException.class, call.get()::finishRequest);
                    refused.countDown();
                }
            };
            onLoop(() -> {
                call.set(client.fetch(
                        request(origin.origin(), builder -> builder.method("POST")
                                .contentLength(4)),
                        response));
                return null;
            });
            refused.await();
        }
    }

    @Test
    void aCallMayStartAnotherFromItsEnd() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(ScriptedOrigin.answering(ScriptedOrigin.OK))) {
            RecordedResponse second = new RecordedResponse();
            RecordedResponse first = new RecordedResponse() {
                @Override
                public void onComplete(FieldSection received) {
                    super.onComplete(received);
                    client.fetch(get(origin.origin()), second);
                }
            };
            start(get(origin.origin()), first);
            first.awaitComplete();
            assertEquals("ok", second.awaitComplete().content());
            assertEquals(1, origin.connectionsAccepted());
        }
    }

    static ByteBuf bytes(String text) {
        return Unpooled.wrappedBuffer(text.getBytes(StandardCharsets.ISO_8859_1));
    }
}
