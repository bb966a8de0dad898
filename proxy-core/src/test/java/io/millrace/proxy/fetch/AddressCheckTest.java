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

/** Names whose addresses are not all allowed, and name servers that change their mind. */
class AddressCheckTest extends FetchFixture {
    private final List<String> asked = Collections.synchronizedList(new ArrayList<>());
    private final List<String> checked = Collections.synchronizedList(new ArrayList<>());
    private final AtomicInteger answers = new AtomicInteger();

    /** {@code rebinding.test} is allowed when it is asked for first, and the loopback ever after. */
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

    /** The answer that was held against the check is the one that is connected to; another answer is held against it again. */
    @Test
    void nameServerThatChangesItsMindGainsNothing() throws Exception {
        String last = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";
        try (ScriptedOrigin origin = ScriptedOrigin.running(ScriptedOrigin.answering(last))) {
            assertEquals("ok", fetch(get("rebinding.test", origin.port())).content());
            assertEquals(List.of("rebinding.test"), asked);
            // Another client remembers nothing, and asks again.
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

    /** What a rule may reach is no way to where nobody may be forwarded to. */
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
