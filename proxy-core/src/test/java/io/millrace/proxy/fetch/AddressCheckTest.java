package io.millrace.proxy.fetch;

import static io.millrace.proxy.fetch.ScriptedOrigin.OK;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.fetch.OriginFailure.Reason;
import io.netty.util.concurrent.Promise;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Tests names whose addresses are not all permitted, and name servers that change their answers. */
class AddressCheckTest extends FetchFixture {
    private final List<String> asked = Collections.synchronizedList(new ArrayList<>());
    private final List<String> checked = Collections.synchronizedList(new ArrayList<>());
    private final AtomicInteger answers = new AtomicInteger();

    /** {@code rebinding.test} has a permitted address at the first query, and the loopback address later. */
    @Override
    OriginClientBuilder configure(OriginClientBuilder builder) {
        return builder.resolver(
                new ScriptedResolver(
                        loop,
                        Map.of(
                                "mixed.test", List.of("127.0.0.2", "127.0.0.3", "127.0.0.1"),
                                "denied.test", List.of("127.0.0.2", "127.0.0.3"))) {
                    @Override
                    protected void doResolveAll(String name, Promise<List<InetAddress>> promise) throws Exception {
                        asked.add(name);
                        super.doResolveAll(
                                name.equals("rebinding.test")
                                        ? answers.getAndIncrement() == 0 ? "mixed.test" : "denied.test"
                                        : name,
                                promise);
                    }
                });
    }

    private boolean allows(InetAddress address, int port) {
        checked.add(address.getHostAddress());
        return address.getHostAddress().equals("127.0.0.1");
    }

    private final AddressCheck check = this::allows;

    private OriginRequest get(String host, int port) {
        return request(Origin.http(host, port), builder -> builder.addresses(check));
    }

    @Test
    void onlyAddressesThatPassAreConnectedTo() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(ScriptedOrigin.answering(OK))) {
            assertEquals("ok", fetch(get("mixed.test", origin.port())).content());
            assertEquals(List.of("127.0.0.2", "127.0.0.3", "127.0.0.1"), checked);
            assertEquals(0, onLoop(() -> client.statistics().connectFailures()));
        }
    }

    @Test
    void nameWithoutOneIsDenied_andNothingIsConnectedTo() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(ScriptedOrigin.answering(OK))) {
            OriginFailure failure = fetchFailing(get("denied.test", origin.port()));
            assertEquals(Reason.DESTINATION, failure.reason(), failure.message());
            assertTrue(failure.beforeHead());
            assertEquals(
                    Reason.DESTINATION,
                    fetchFailing(get("127.0.0.9", origin.port())).reason());
            assertEquals(0, origin.connectionsAccepted());
        }
    }

    /** The checked answer is the one that is connected to; another answer is checked again. */
    @Test
    void nameServerThatChangesItsMindGainsNothing() throws Exception {
        String last = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";
        try (ScriptedOrigin origin = ScriptedOrigin.running(ScriptedOrigin.answering(last))) {
            assertEquals("ok", fetch(get("rebinding.test", origin.port())).content());
            assertEquals(List.of("rebinding.test"), asked);
            // Another client has no cache and queries again.
            OriginClient another =
                    onLoop(() -> configure(OriginClient.builder(loop)).build());
            RecordedResponse response = new RecordedResponse();
            onLoop(() -> another.fetch(get("rebinding.test", origin.port()), response));
            assertEquals(Reason.DESTINATION, response.awaitFailure().reason());
            assertEquals(List.of("rebinding.test", "rebinding.test"), asked);
            runOnLoop(another::close);
            assertEquals(1, origin.connectionsAccepted());
        }
    }

    /** A connection of a rule is not used for a destination to which forwarding is not permitted. */
    @Test
    void connectionsMadeWithoutTheCheckAreNotShared() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(ScriptedOrigin.answering(OK))) {
            Origin free = Origin.http("127.0.0.1", origin.port());
            fetch(request(free, builder -> builder));
            fetch(get("127.0.0.1", origin.port()));
            fetch(get("127.0.0.1", origin.port()));
            assertEquals(2, origin.connectionsAccepted());
        }
    }
}
