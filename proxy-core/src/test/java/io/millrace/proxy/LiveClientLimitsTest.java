package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.clients.ClientCounts.Kind;
import io.millrace.proxy.http.IpAddress;
import io.millrace.proxy.observe.Counter;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests live changes of the limits of one client while it uses some of them. */
class LiveClientLimitsTest {
    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    private static final IpAddress LOOPBACK = IpAddress.of(new byte[] {127, 0, 0, 1});

    private volatile CountDownLatch gate = new CountDownLatch(0);

    /** Returns the status of a request while another one of the same client waits for the origin. */
    private int statusBesideAnother(String fields) throws IOException {
        gate = new CountDownLatch(1);
        int before = live.proxy().origin().requests();
        RawClient first = live.proxy().client().get("/slow" + live.fresh(), fields);
        ProxyExtension.await("the first", () -> live.proxy().origin().requests() > before);
        long denied = live.proxy().counted(Counter.DENIED_CLIENT_REQUESTS);
        RawClient.Response second = live.proxy().get(live.fresh(), fields);
        gate.countDown();
        assertEquals(200, first.response().status());
        live.settle();
        if (second.status() == 429) {
            assertEquals(
                    "429 Too Many Requests: more requests at the same time than limits.per_client.requests\n",
                    second.text());
            assertEquals("1", second.field("retry-after"));
            assertEquals(denied + 1, live.proxy().counted(Counter.DENIED_CLIENT_REQUESTS));
            // Another client of the same proxy in front is not affected.
            assertEquals(
                    200,
                    live.proxy()
                            .get(live.fresh(), "X-Forwarded-For: 192.0.2.99\r\n")
                            .status());
        }
        ProxyExtension.await(
                "nothing counted",
                () -> live.proxy().proxy().shared().clients().counts().clients() == 0);
        return second.status();
    }

    private LiveProxy gated(String file) {
        return live.script(request -> {
                    if (request.has("/slow")) {
                        gate.await();
                    }
                    request.ok("Cache-Control: no-store\r\n", new byte[0]);
                })
                .file(file);
    }

    @LiveKey("limits.per_client.requests")
    void requests() throws Exception {
        gated("limits: {per_client: {requests: <2|1>}}\naccess: {trusted_proxies: 127.0.0.1}")
                .turns(200, 429, () -> statusBesideAnother("X-Forwarded-For: 192.0.2.1\r\n"));
    }

    @LiveKey("limits.per_client.exempt")
    void exempt() throws Exception {
        gated("limits: {per_client: {requests: 1, exempt: <[127.0.0.1]|[192.0.2.0/24]>}}")
                .turns(200, 429, () -> {
                    gate = new CountDownLatch(1);
                    int before = live.proxy().origin().requests();
                    RawClient first = live.proxy().client().get("/slow" + live.fresh());
                    ProxyExtension.await(
                            "the first", () -> live.proxy().origin().requests() > before);
                    int status = live.proxy().get(live.fresh()).status();
                    gate.countDown();
                    first.response();
                    live.settle();
                    return status;
                });
    }

    @LiveKey("limits.per_client.tunnels")
    void tunnels() throws Exception {
        live.script(request -> {
                    if (request.has("Upgrade")) {
                        request.send(WebSocketPeer.accepted(request.head()));
                        request.awaitClose();
                    } else {
                        request.ok("Cache-Control: no-store\r\n", new byte[0]);
                    }
                })
                .file("upgrade: [websocket]\nlimits: {per_client: {tunnels: <2|1>, exempt: '~all'}}")
                .start();
        live.proxy().client().send(WebSocketPeer.request("/")).head();
        live.turns(101, 429, () -> {
            RawClient client = new RawClient(live.proxy().address());
            int status = client.send(WebSocketPeer.request("/")).head().status();
            assertEquals(200, live.proxy().get(live.fresh()).status());
            client.close();
            ProxyExtension.await(
                    "the end",
                    () -> live.proxy().proxy().shared().clients().counts().count(Kind.TUNNELS, LOOPBACK) == 1);
            assertEquals(status == 429 ? 1 : 0, live.proxy().counted(Counter.DENIED_CLIENT_TUNNELS));
            return status;
        });
    }

    /** A client that has one connection since the change; earlier connections are not counted. */
    @LiveKey("limits.per_client.connections")
    void connections() throws Exception {
        live.file("limits: {per_client: {connections: <0|1>, exempt: '~all'}}").start();
        live.turns(200, LiveProxy.CLOSED, () -> {
            RawClient first = live.proxy().client();
            assertEquals(200, first.get("/kept").response().status());
            RawClient second = live.proxy().client();
            int status = LiveProxy.statusOrClosed(second.get("/kept"));
            if (live.isChanged()) {
                assertEquals(1, live.proxy().counted(Counter.CLIENT_CONNECTIONS_REFUSED_CLIENT_LIMIT));
                first.close();
                ProxyExtension.await(
                        "its end",
                        () -> live.proxy().proxy().shared().clients().counts().clients() == 0);
                assertEquals(200, live.proxy().get("/kept").status());
            }
            return status;
        });
    }
}
