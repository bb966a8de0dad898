package io.millrace.proxy;

import io.millrace.proxy.observe.Counter;
import java.io.IOException;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests live changes of limits and timeouts of clients, on connections that were open before. */
class LiveConnectionsTest {
    /** Neither a response nor an end. */
    private static final int WAITS = 0;

    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    /** Returns a connection that has served a request and is kept open. */
    private RawClient kept() throws IOException {
        live.start();
        RawClient client = live.proxy().client();
        for (int i = 0; i < 3; i++) {
            client.get("/kept").response();
            live.settle();
        }
        return client;
    }

    private static int post(RawClient client, int length) throws IOException {
        return client.send("POST / HTTP/1.1\r\nHost: test.example\r\nContent-Length: " + length + "\r\n\r\n"
                        + "x".repeat(length))
                .response()
                .status();
    }

    @LiveKey("limits.request_line")
    void requestLine() throws Exception {
        live.file("limits: {request_line: <8KiB|256B>}");
        RawClient client = kept();
        live.turns(200, 414, () -> client.get("/" + "a".repeat(300)).response().status());
    }

    @LiveKey("limits.request_header")
    void requestHeader() throws Exception {
        live.file("limits: {request_header: <32KiB|1KiB>}");
        RawClient client = kept();
        live.turns(200, 431, () -> client.get("/", "A: " + "a".repeat(2000) + "\r\n")
                .response()
                .status());
    }

    @LiveKey("limits.request_body")
    void requestBody() throws Exception {
        live.script(request -> {
            if (request.has("POST")) {
                request.in().read(100);
            }
            request.ok("", new byte[0]);
        });
        live.file("limits: {request_body: <0|10B>}");
        RawClient client = kept();
        live.turns(200, 413, () -> post(client, 100));
    }

    @LiveKey("limits.requests_per_connection")
    void requestsPerConnection() throws Exception {
        live.file("limits: {requests_per_connection: <0|1>}");
        RawClient client = kept();
        live.turns(null, "close", () -> client.get("/kept").response().field("connection"));
    }

    @LiveKey("limits.connections")
    void connections() throws Exception {
        live.file("limits: {connections: <1000|1>}");
        kept();
        live.turns(200, LiveProxy.CLOSED, () -> {
            try (RawClient second = new RawClient(live.proxy().address())) {
                return LiveProxy.statusOrClosed(second.get("/"));
            }
        });
    }

    /** Checks that a connection waits with nothing to read, and after the change returns its end. */
    private int waitsOrEnds(RawClient client) throws IOException {
        if (live.isChanged()) {
            return LiveProxy.statusOrClosed(client);
        }
        live.lull();
        return client.socket.getInputStream().available() == 0 ? WAITS : LiveProxy.statusOrClosed(client);
    }

    @LiveKey("timeouts.client_header")
    void header() throws Exception {
        live.file("timeouts: {client_header: <1h|10ms>}").start();
        RawClient client = live.proxy().client().send("GET / HTTP/1.1\r\n");
        live.turns(
                WAITS,
                408,
                () -> live.isChanged()
                        ? LiveProxy.statusOrClosed(client)
                        : client.socket.getInputStream().available());
    }

    @LiveKey("timeouts.client_keep_alive")
    void keepAlive() throws Exception {
        live.file("timeouts: {client_keep_alive: <1h|10ms>, client_header: 10ms}");
        RawClient client = kept();
        live.turns(200, LiveProxy.CLOSED, () -> {
            if (!live.isChanged()) {
                live.lull();
                return client.get("/kept").response().status();
            }
            return LiveProxy.statusOrClosed(client);
        });
    }

    @LiveKey("timeouts.client_body")
    void body() throws Exception {
        live.script(RawOrigin.Exchange::awaitClose)
                .file("timeouts: {client_body: <1h|10ms>, client_header: 10ms}")
                .start();
        RawClient client =
                live.proxy().client().send("POST / HTTP/1.1\r\nHost: test.example\r\nContent-Length: 10\r\n\r\nabc");
        live.turns(WAITS, 408, () -> waitsOrEnds(client));
    }

    @LiveKey("limits.request_body_rate")
    void bodyRate() throws Exception {
        slowBody("limits: {request_body_rate: <0|1MiB>}\ntimeouts: {client_body_window: 250ms, client_header: 10ms}");
    }

    @LiveKey("timeouts.client_body_window")
    void bodyWindow() throws Exception {
        slowBody("limits: {request_body_rate: 1MiB}\ntimeouts: {client_body_window: <1h|250ms>, client_header: 10ms}");
    }

    private void slowBody(String file) throws Exception {
        live.script(RawOrigin.Exchange::awaitClose).file(file).start();
        RawClient client =
                live.proxy().client().send("POST / HTTP/1.1\r\nHost: test.example\r\nContent-Length: 10\r\n\r\nabc");
        live.turns(WAITS, 408, () -> waitsOrEnds(client));
    }

    /** Applies to later connections. */
    @LiveKey("worker.fast_lane")
    void fastLane() throws Exception {
        Assumptions.assumeTrue(live.hasFastLane());
        live.file("worker: {fast_lane: <true|false>}").turns(true, false, () -> {
            live.get("/stored");
            long before = live.proxy().counted(Counter.FAST_LANE_ANSWERED);
            live.get("/stored");
            return live.proxy().counted(Counter.FAST_LANE_ANSWERED) > before;
        });
    }
}
