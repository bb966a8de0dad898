package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.observe.Counter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests that requests for uncacheable responses are never served one after the other. */
class UncacheableTest {
    private static final int CLIENTS = 50;
    private static final byte[] CONTENT = RawInput.latin1("content");

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private volatile String fields = "Cache-Control: no-store\r\n";
    private volatile CountDownLatch gate = new CountDownLatch(0);

    private void start() throws Exception {
        proxy.start(
                request -> {
                    gate.await();
                    if (request.has("X-Provokes: 400")) {
                        request.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
                    } else {
                        request.ok(fields, CONTENT);
                    }
                },
                config -> config.set("worker.event_loops", "2"));
    }

    /**
     * Sends a request from each client while the origin does not answer; checks the number of requests at the origin
     * when it opens.
     */
    private void askAtOnce(int atOrigin) throws Exception {
        int before = proxy.origin().requests();
        gate = new CountDownLatch(1);
        List<RawClient> clients = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            clients.add(proxy.client().get("/a"));
        }
        ProxyExtension.await(
                atOrigin + " requests at the origin", () -> proxy.origin().requests() - before == atOrigin);
        gate.countDown();
        for (RawClient client : clients) {
            assertEquals(200, client.response().status());
        }
    }

    @Test
    void allReachTheOriginAtOnceTheSecondTime() throws Exception {
        start();
        proxy.get("/a");
        askAtOnce(CLIENTS);
        assertEquals(CLIENTS, proxy.counted(Counter.COLLAPSED_UNCACHEABLE));
    }

    @Test
    void isForgottenAfterItsTime() throws Exception {
        start();
        proxy.get("/a");
        proxy.advanceSeconds(120);
        askAtOnce(1);
    }

    @Test
    void isForgottenWhenAResponseCanBeStored() throws Exception {
        start();
        proxy.get("/a");
        fields = "Cache-Control: max-age=10\r\n";
        proxy.get("/a");
        proxy.advanceSeconds(11);
        askAtOnce(1);
    }

    /** A client's own no-store does not affect the responses of others. */
    @Test
    void noStoreOfOneClientDoesNotPreventOthersFromWaiting() throws Exception {
        fields = "Cache-Control: max-age=10\r\n";
        start();
        proxy.get("/a", "Cache-Control: no-store\r\n");
        askAtOnce(1);
    }

    /** Credentials of a client do not affect them either (RFC 9111 s3.5). */
    @Test
    void authorizationOfOneClientDoesNotPreventOthersFromWaiting() throws Exception {
        fields = "Cache-Control: max-age=10\r\n";
        start();
        proxy.get("/a", "Authorization: Basic eDp5\r\n");
        askAtOnce(1);
    }

    /** An error that a client causes does not affect them either. */
    @Test
    void errorForOneClientDoesNotPreventOthersFromWaiting() throws Exception {
        fields = "Cache-Control: max-age=10\r\n";
        start();
        assertEquals(400, proxy.get("/a", "X-Provokes: 400\r\n").status());
        askAtOnce(1);
    }

    /** The time at the origin and in transit counts (RFC 9111 s4.2.3), whether or not the response is stored. */
    @Test
    void ageOfUnstoredResponses_rfc9111_s5_1() throws Exception {
        fields = "Cache-Control: no-store\r\nAge: 30\r\n";
        start();
        gate = new CountDownLatch(1);
        RawClient client = proxy.client().get("/a");
        ProxyExtension.await("a request at the origin", () -> proxy.origin().requests() == 1);
        proxy.advanceSeconds(5);
        gate.countDown();
        assertEquals("35", client.response().field("age"));
    }
}
