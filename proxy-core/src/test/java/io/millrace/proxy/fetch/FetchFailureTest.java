package io.millrace.proxy.fetch;

import static io.millrace.proxy.fetch.FetchTest.bytes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.dns.HostAddresses;
import io.millrace.proxy.fetch.OriginFailure.Reason;
import io.millrace.proxy.fetch.response.ResponseFraming;
import io.millrace.proxy.http.ResponseHead;
import io.netty.buffer.Unpooled;
import io.netty.util.NetUtil;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Tests each reason of a failed call. */
class FetchFailureTest extends FetchFixture {

    private static final FetchSettings IMPATIENT = settings()
            .connectTimeoutNanos(millis(300))
            .firstByteTimeoutNanos(millis(300))
            .responseIdleTimeoutNanos(millis(300))
            .requestIdleTimeoutNanos(millis(300))
            .build();

    @Override
    OriginClientBuilder configure(OriginClientBuilder builder) {
        return builder.resolver(new ScriptedResolver(
                loop,
                Map.of(
                        "origin.test", List.of("127.0.0.1"),
                        "two.test", List.of("127.0.0.2", "127.0.0.1"),
                        "empty.test", List.of())));
    }

    @Test
    void unknownNameIsDns() throws Exception {
        OriginFailure failure = fetchFailing(get(Origin.http("nowhere.test", 80)));
        assertEquals(Reason.DNS, failure.reason());
        assertEquals("http://nowhere.test:80: name resolution: no such name: nowhere.test", failure.message());
        assertEquals(
                Reason.DNS, fetchFailing(get(Origin.http("empty.test", 80))).reason());
    }

    @Test
    void aClosedPortIsConnectRefused() throws Exception {
        int port;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        OriginFailure failure = fetchFailing(get(Origin.http("origin.test", port)));
        assertEquals(Reason.CONNECT_REFUSED, failure.reason());
        assertTrue(failure.message().startsWith("http://origin.test:" + port + ": connecting to "), failure.message());
        assertEquals(1, onLoop(() -> client.statistics().connectFailures()));
        assertEquals(1, onLoop(() -> client.statistics().failures(Reason.CONNECT_REFUSED)));
    }

    @Test
    void failedAttemptsToConnectLeaveTheirPlaceToOthers() throws Exception {
        int port;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        OriginRequest refused = get(
                Origin.http("origin.test", port), settings().connectionsMax(1).build());
        RecordedResponse first = new RecordedResponse();
        RecordedResponse waiting = new RecordedResponse();
        onLoop(() -> {
            client.fetch(refused, first);
            return client.fetch(refused, waiting);
        });
        assertEquals(Reason.CONNECT_REFUSED, first.awaitFailure().reason());
        assertEquals(Reason.CONNECT_REFUSED, waiting.awaitFailure().reason());
        assertEquals(Reason.CONNECT_REFUSED, fetchFailing(refused).reason());
        assertEquals(0, onLoop(() -> client.statistics().connectionsConnecting()));
    }

    @Test
    void nameServersSilenceIsConnectTimeout() throws Exception {
        OriginFailure failure = fetchFailing(get(Origin.http(ScriptedResolver.SILENT, 80), IMPATIENT));
        assertEquals(Reason.CONNECT_TIMEOUT, failure.reason());
        assertEquals("http://silent.test:80: name resolution took longer than 300 ms", failure.message());
    }

    @Test
    void anAddressThatDoesNotAnswerIsConnectTimeout() throws Exception {
        try (FullListener full = new FullListener("127.0.0.1", 0)) {
            OriginFailure failure = fetchFailing(get(Origin.http("origin.test", full.port()), IMPATIENT));
            assertEquals(Reason.CONNECT_TIMEOUT, failure.reason());
            assertTrue(failure.message().endsWith("took longer than 300 ms"), failure.message());
        }
    }

    @Test
    void rfc8305Section5_theNextAddressIsTriedBesideOneThatDoesNotAnswerAndFirstTheNextTime() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(
                        ScriptedOrigin.answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
                FullListener full = new FullListener("127.0.0.2", origin.port())) {
            fetch(get(Origin.http("two.test", full.port())));
            assertEquals(1, origin.connectionsAccepted());
            assertEquals(0L, (long) onLoop(() -> client.statistics().connectionsConnecting()));
            assertEquals(List.of("127.0.0.1", "127.0.0.2"), onLoop(() -> {
                HostAddresses addresses = ((PooledOriginClient) client).addresses();
                return addresses.resolve("two.test").getNow().stream()
                        .map(InetAddress::getHostAddress)
                        .toList();
            }));
        }
    }

    @Test
    void theNextAddressIsTriedAfterARefusal() throws Exception {
        try (ScriptedOrigin origin =
                ScriptedOrigin.running(ScriptedOrigin.answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))) {
            fetch(get(Origin.http("two.test", origin.port())));
            assertEquals(1, origin.connectionsAccepted());
        }
    }

    @Test
    void theNextAddressIsTriedAfterATimeout() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(
                        ScriptedOrigin.answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
                FullListener full = new FullListener("127.0.0.2", origin.port())) {
            assertEquals(origin.port(), full.port());
            fetch(get(
                    Origin.http("two.test", origin.port()),
                    settings().connectTimeoutNanos(millis(1000)).build()));
            assertEquals(1, origin.connectionsAccepted());
        }
    }

    @Test
    void noHeadInTimeIsFirstByteTimeout() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            peer.readHead();
            peer.send("HTTP/1.1 200 OK\r\nX-Slow: ");
            assertTrue(peer.isClosedByPeer());
        })) {
            OriginFailure failure = fetchFailing(get(origin.origin(), IMPATIENT));
            assertEquals(Reason.FIRST_BYTE_TIMEOUT, failure.reason());
            assertEquals(origin.origin() + ": no response head within 300 ms", failure.message());
            assertTrue(failure.beforeHead() && failure.reason().isTimeout());
        }
    }

    @Test
    void noAnswerToExpectIsFirstByteTimeout() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            peer.readHead();
            assertTrue(peer.isClosedByPeer());
        })) {
            var fields = io.millrace.proxy.http.FieldSection.builder()
                    .addAll(FIELDS)
                    .add("Expect", "100-continue")
                    .build();
            OriginRequest request = request(origin.origin(), builder -> builder.method("PUT")
                    .contentLength(1)
                    .fields(fields)
                    .settings(IMPATIENT));
            assertEquals(Reason.FIRST_BYTE_TIMEOUT, fetchFailing(request).reason());
        }
    }

    @Test
    void aPauseInTheContentIsIdleTimeout() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            peer.readHead();
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
            assertTrue(peer.isClosedByPeer());
        })) {
            OriginFailure failure = fetchFailing(get(origin.origin(), IMPATIENT));
            assertEquals(Reason.IDLE_TIMEOUT, failure.reason());
            assertEquals(origin.origin() + ": no content for 300 ms", failure.message());
        }
    }

    @Test
    void contentThatIsNotTakenIsRequestTimeout() throws Exception {
        CountDownLatch failed = new CountDownLatch(1);
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> failed.await())) {
            AtomicReference<OriginCall> call = new AtomicReference<>();
            RecordedResponse response = new RecordedResponse() {
                @Override
                public void onRequestWritable() {
                    while (call.get().isRequestWritable()) {
                        call.get().write(Unpooled.wrappedBuffer(new byte[64 << 10]));
                    }
                }
            };
            OriginRequest request = request(
                    origin.origin(),
                    builder -> builder.method("POST").chunkedContent().settings(IMPATIENT));
            onLoop(() -> {
                call.set(client.fetch(request, response));
                return null;
            });
            assertEquals(Reason.REQUEST_TIMEOUT, response.awaitFailure().reason());
            failed.countDown();
        }
    }

    @Test
    void closeOrResetBeforeAnyByteIsReset() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(ScriptedOrigin.Peer::readHead, peer -> {
            peer.readHead();
            peer.reset();
        })) {
            OriginFailure closed = fetchFailing(get(origin.origin()));
            assertEquals(Reason.RESET, closed.reason());
            assertEquals(origin.origin() + ": the connection was closed before a response", closed.message());
            assertEquals(Reason.RESET, fetchFailing(get(origin.origin())).reason());
            assertEquals(2, origin.connectionsAccepted());
        }
    }

    @Test
    void resetInTheContentIsResetAlsoWhereTheCloseWouldDelimitIt() throws Exception {
        for (String framing : List.of("Content-Length: 10\r\n", "Transfer-Encoding: chunked\r\n", "")) {
            CountDownLatch mayReset = new CountDownLatch(1);
            try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
                peer.readHead();
                peer.send("HTTP/1.1 200 OK\r\n" + framing + "\r\n");
                mayReset.await();
                peer.reset();
            })) {
                RecordedResponse response = new RecordedResponse() {
                    @Override
                    public void onHead(ResponseHead received, ResponseFraming framed) {
                        super.onHead(received, framed);
                        mayReset.countDown();
                    }
                };
                start(get(origin.origin()), response);
                assertEquals(Reason.RESET, response.awaitFailure().reason(), framing);
            }
        }
    }

    @Test
    void rfc9112Section8_closeBeforeTheEndIsTruncated() throws Exception {
        for (String wire : List.of(
                "HTTP/1.1 200 OK\r\nContent-Le",
                "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n123456789",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA: b\r\n",
                "HTTP/1.1 103 Early Hints\r\n\r\n")) {
            try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
                peer.readHead();
                peer.send(wire);
            })) {
                RecordedResponse response = new RecordedResponse();
                start(get(origin.origin()), response);
                assertEquals(Reason.TRUNCATED, response.awaitFailure().reason(), wire);
            }
        }
    }

    @Test
    void aHandlerThatThrowsEndsItsCallAndNoOther() throws Exception {
        try (ScriptedOrigin origin =
                ScriptedOrigin.running(ScriptedOrigin.answering("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"))) {
            RecordedResponse response = new RecordedResponse() {
                @Override
                public void onHead(ResponseHead received, ResponseFraming framed) {
                    super.onHead(received, framed);
                    throw new IllegalStateException("handler");
                }
            };
            start(get(origin.origin()), response);
            assertEquals(Reason.INTERNAL, response.awaitFailure().reason());
            assertEquals("hello", fetch(get(origin.origin())).content());
        }
    }

    @Test
    void closingTheClientFailsCurrentCalls() throws Exception {
        CountDownLatch requested = new CountDownLatch(1);
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            peer.readHead();
            requested.countDown();
            assertTrue(peer.isClosedByPeer());
        })) {
            FetchSettings one = settings().connectionsMax(1).build();
            RecordedResponse active = new RecordedResponse();
            RecordedResponse waiting = new RecordedResponse();
            RecordedResponse connecting = new RecordedResponse();
            RecordedResponse late = new RecordedResponse();
            start(get(origin.origin(), one), active);
            requested.await();
            start(get(origin.origin(), one), waiting);
            start(get(Origin.http(ScriptedResolver.SILENT, 80)), connecting);
            runOnLoop(client::close);
            start(get(origin.origin()), late);
            for (RecordedResponse each : List.of(active, waiting, connecting, late)) {
                assertEquals(Reason.CANCELLED, each.awaitFailure().reason());
            }
            assertEquals(
                    0,
                    onLoop(() -> client.statistics().connectionsOpen()
                            + client.statistics().callsWaiting()
                            + client.statistics().connectionsConnecting()));
        }
    }

    @Test
    void aCancelledCallGetsNoFurtherEvents() throws Exception {
        CountDownLatch requested = new CountDownLatch(1);
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            peer.readHead();
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
            requested.countDown();
            assertTrue(peer.isClosedByPeer());
        })) {
            RecordedResponse response = new RecordedResponse();
            OriginCall call = start(get(origin.origin()), response);
            response.awaitHead();
            requested.await();
            runOnLoop(() -> {
                call.cancel();
                call.cancel();
                call.write(bytes("dropped"));
                call.finishRequest();
                call.pauseReading();
                call.resumeReading();
            });
            runOnLoop(() -> {});
            assertNull(response.failure);
            assertEquals(0, onLoop(() -> client.statistics().connectionsOpen()));
        }
    }

    @Test
    void aCallMayBeCancelledFromItsOwnHead() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            peer.readHead();
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
            assertTrue(peer.isClosedByPeer());
        })) {
            AtomicReference<OriginCall> call = new AtomicReference<>();
            RecordedResponse response = new RecordedResponse() {
                @Override
                public void onHead(ResponseHead received, ResponseFraming framed) {
                    super.onHead(received, framed);
                    call.get().cancel();
                }
            };
            onLoop(() -> {
                call.set(client.fetch(get(origin.origin()), response));
                return null;
            });
            response.awaitHead();
            runOnLoop(() -> {});
            assertEquals(0, response.contentLength());
            assertNull(response.failure);
        }
    }

    /** A listening socket with a full queue: connecting to it is never answered. */
    private static final class FullListener implements AutoCloseable {

        private final ServerSocket listening = new ServerSocket();
        private final List<SocketChannel> queued = new ArrayList<>();

        FullListener(String address, int port) throws IOException {
            listening.bind(new InetSocketAddress(NetUtil.createInetAddressFromIpAddressString(address), port), 1);
            // A backlog of 1 holds 2 connections on Linux; the others are a reserve.
            for (int i = 0; i < 4; i++) {
                SocketChannel channel = SocketChannel.open();
                channel.configureBlocking(false);
                boolean unused = channel.connect(listening.getLocalSocketAddress());
                queued.add(channel);
            }
        }

        int port() {
            return listening.getLocalPort();
        }

        @Override
        public void close() throws IOException {
            listening.close();
            for (SocketChannel channel : queued) {
                channel.close();
            }
        }
    }
}
