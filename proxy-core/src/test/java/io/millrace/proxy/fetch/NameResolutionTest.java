package io.millrace.proxy.fetch;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.fetch.OriginFailure.Reason;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Names asked of a name server on the loopback. */
class NameResolutionTest extends FetchFixture {

    private static final String OK = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";

    private NameServer server;

    @Override
    OriginClientBuilder configure(OriginClientBuilder builder) {
        try {
            server = new NameServer();
        } catch (SocketException e) {
            throw new AssertionError(e);
        }
        return builder.nameServers(server.address()).dnsTtlSeconds(60, 120).dnsQueryTimeoutMillis(200);
    }

    @AfterEach
    void closeServer() throws Exception {
        server.close();
    }

    @Test
    void aNameIsAskedForOnceWithinItsTimeToLive() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(ScriptedOrigin.answering(OK))) {
            for (int i = 0; i < 3; i++) {
                fetch(get(Origin.http("found.test", origin.port())));
            }
            assertEquals(3, origin.connectionsAccepted());
            assertEquals(
                    1,
                    Collections.frequency(server.asked(), "found.test"),
                    server.asked().toString());
        }
    }

    @Test
    void aNameThatDoesNotExistIsDns() throws Exception {
        OriginFailure failure = fetchFailing(get(Origin.http("absent.test", 80)));
        assertEquals(Reason.DNS, failure.reason(), failure.message());
    }

    @Test
    void aServerThatDoesNotAnswerIsDns() throws Exception {
        OriginFailure failure = fetchFailing(get(Origin.http("silent.test", 80)));
        assertEquals(Reason.DNS, failure.reason(), failure.message());
    }

    @Test
    void addressesAndLocalhostAreNotAskedFor() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(ScriptedOrigin.answering(OK))) {
            fetch(get(Origin.http("127.0.0.1", origin.port())));
            fetch(get(Origin.http("localhost", origin.port())));
            assertEquals(List.of(), server.asked());
        }
    }

    /**
     * Answers queries for A of {@code found.test} with 127.0.0.1 and a time to live of 0, those for its other types with nothing, those for {@code silent.test} not
     * at all, and all others with NXDOMAIN.
     */
    private static final class NameServer implements AutoCloseable {

        private static final int TYPE_A = 1;
        private static final int HEADER_LENGTH = 12;

        private final DatagramSocket socket = new DatagramSocket(0, InetAddress.getLoopbackAddress());
        private final List<String> asked = Collections.synchronizedList(new ArrayList<>());
        private final Thread thread = new Thread(this::serve, "name-server");

        NameServer() throws SocketException {
            thread.setDaemon(true);
            thread.start();
        }

        InetSocketAddress address() {
            return (InetSocketAddress) socket.getLocalSocketAddress();
        }

        /** Names asked for with type A, in order. */
        List<String> asked() {
            return List.copyOf(asked);
        }

        private void serve() {
            byte[] bytes = new byte[1500];
            try {
                while (true) {
                    DatagramPacket query = new DatagramPacket(bytes, bytes.length);
                    socket.receive(query);
                    byte[] answer = answer(bytes);
                    if (answer.length > 0) {
                        socket.send(new DatagramPacket(answer, answer.length, query.getSocketAddress()));
                    }
                }
            } catch (java.io.IOException e) {
                // Closed.
            }
        }

        private byte[] answer(byte[] query) {
            StringBuilder name = new StringBuilder();
            int at = HEADER_LENGTH;
            while (query[at] != 0) {
                for (int i = 1; i <= query[at]; i++) {
                    name.append((char) query[at + i]);
                }
                name.append('.');
                at += query[at] + 1;
            }
            name.setLength(name.length() - 1);
            boolean typeA = query[at + 2] == TYPE_A;
            if (typeA) {
                asked.add(name.toString());
            }
            if (name.indexOf("silent") == 0) {
                return new byte[0];
            }
            boolean found = name.toString().equals("found.test");
            int questionLength = at + 5 - HEADER_LENGTH;
            ByteBuffer answer = ByteBuffer.allocate(HEADER_LENGTH + questionLength + 16);
            answer.put(query, 0, 2).putShort((short) (found ? 0x8180 : 0x8183)).putShort((short) 1);
            answer.putShort((short) (found && typeA ? 1 : 0)).putInt(0);
            answer.put(query, HEADER_LENGTH, questionLength);
            if (found && typeA) {
                // Name by reference to the question, type A, class IN, time to live 0, four bytes.
                answer.putShort((short) 0xc00c)
                        .putShort((short) TYPE_A)
                        .putShort((short) 1)
                        .putInt(0)
                        .putShort((short) 4)
                        .put(new byte[] {127, 0, 0, 1});
            }
            byte[] bytes = new byte[answer.position()];
            answer.flip().get(bytes);
            return bytes;
        }

        @Override
        public void close() {
            socket.close();
        }
    }
}
