package io.millrace.proxy.fetch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import org.junit.jupiter.api.Test;

/** Tests connections from a client's address (transparent proxy). Loopback addresses need no capability. */
class ClientAddressTest extends FetchFixture {
    /** Answers with the address of the peer, and keeps the connection open. */
    private static final ScriptedOrigin.Script PEER = peer -> {
        while (peer.readHead() != null) {
            String address = peer.socket().getInetAddress().getHostAddress();
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: " + address.length() + "\r\n\r\n" + address);
        }
    };

    private OriginRequest from(String client, ScriptedOrigin origin, FetchSettings settings) throws Exception {
        InetAddress address = InetAddress.getByName(client);
        return request(origin.origin(), builder -> builder.client(address).settings(settings));
    }

    @Test
    void everyRequestHasAConnectionOfItsOwn() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(PEER)) {
            FetchSettings settings = settings().build();
            for (String client : new String[] {"127.0.0.2", "127.0.0.3", "127.0.0.2"}) {
                assertEquals(client, fetch(from(client, origin, settings)).content());
            }
            assertEquals("127.0.0.1", fetch(get(origin.origin())).content());
            assertEquals(4, origin.connectionsAccepted());
            assertEquals(1, (long) onLoop(() -> client.statistics().connectionsIdle()));
        }
    }

    /** The connection that was made for the cancelled call has the address of another client. */
    @Test
    void connectionOfACancelledCallIsNotUsedForAnotherClient() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(PEER)) {
            FetchSettings one = settings().connectionsMax(1).build();
            OriginRequest first = from("127.0.0.2", origin, one);
            OriginRequest second = from("127.0.0.3", origin, one);
            RecordedResponse response = new RecordedResponse();
            onLoop(() -> {
                OriginCall gone = client.fetch(first, new RecordedResponse());
                client.fetch(second, response);
                assertEquals(1, client.statistics().callsWaiting());
                gone.cancel();
                return null;
            });
            assertEquals("127.0.0.3", response.awaitComplete().content());
        }
    }

    @Test
    void connectionOfACancelledCallIsClosed() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(PEER)) {
            OriginRequest request = from("127.0.0.2", origin, settings().build());
            onLoop(() -> {
                client.fetch(request, new RecordedResponse()).cancel();
                return null;
            });
            org.awaitility.Awaitility.await("the connection is made")
                    .until(() -> onLoop(() -> client.statistics().connects() == 1));
            assertEquals(0, (long) onLoop(() -> client.statistics().connectionsIdle()));
        }
    }

    @Test
    void hostWithoutAnAddressOfTheClientsFamilyFails() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(PEER)) {
            RecordedResponse response = new RecordedResponse();
            OriginRequest request = from("::1", origin, settings().build());
            onLoop(() -> {
                client.fetch(request, response);
                return null;
            });
            OriginFailure failure = response.awaitFailure();
            assertTrue(failure.message().contains("listen[].transparent"), failure.message());
            assertEquals(0, origin.connectionsAccepted());
        }
    }
}
