package io.millrace.proxy;

import io.millrace.proxy.dns.ScriptedNameServer;
import io.millrace.proxy.fetch.OriginStatistics;
import io.millrace.proxy.observe.Counter;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests live changes of limits and timeouts of connections to origins, while connections are open. */
class LiveOriginConnectionsTest {
    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    /** Keeps the origin from answering or continuing. */
    private volatile CountDownLatch gate = new CountDownLatch(0);

    private LiveProxy behindTheGate() {
        return live.script(request -> {
            gate.await();
            request.ok("Cache-Control: no-store\r\n", new byte[0]);
        });
    }

    private long waiting() {
        return live.origins(OriginStatistics::callsWaiting);
    }

    /**
     * Returns the response to a client whose origin takes longer than the limit of some milliseconds before the change.
     */
    private RawClient whileTheGateIsShut(RawClient client) throws IOException {
        if (!live.isChanged()) {
            live.lull();
            gate.countDown();
        }
        return client;
    }

    /** Returns the status of the second of two requests, while the first one uses the only connection. */
    private int statusOfTheSecond() throws IOException {
        gate = new CountDownLatch(1);
        int before = live.proxy().origin().requests();
        long refused = live.proxy().counted(Counter.ORIGIN_FAILURES_LIMIT);
        RawClient first = live.proxy().client().get(live.fresh());
        ProxyExtension.await("the first", () -> live.proxy().origin().requests() > before);
        RawClient second = live.proxy().client().get(live.fresh());
        ProxyExtension.await(
                "the second", () -> waiting() == 1 || live.proxy().counted(Counter.ORIGIN_FAILURES_LIMIT) > refused);
        int status = whileTheGateIsShut(second).response().status();
        gate.countDown();
        first.response();
        return status;
    }

    @LiveKey("origin.connections_max")
    void connectionsMax() throws Exception {
        behindTheGate().file("origin: {connections_max: <2|1>}").turns(2, 1, () -> {
            gate = new CountDownLatch(1);
            int before = live.proxy().origin().requests();
            RawClient one = live.proxy().client().get(live.fresh());
            RawClient two = live.proxy().client().get(live.fresh());
            ProxyExtension.await("both", () -> live.proxy().origin().requests() - before + waiting() == 2);
            int sent = live.proxy().origin().requests() - before;
            gate.countDown();
            one.response();
            two.response();
            return sent;
        });
    }

    @LiveKey("origin.connections_total_max")
    void connectionsTotalMax() throws Exception {
        behindTheGate().file("origin: {connections_total_max: <0|1>}").turns(2, 1, () -> {
            gate = new CountDownLatch(1);
            int before = live.proxy().origin().requests();
            RawClient one = live.proxy().client().get(live.fresh());
            RawClient two = live.proxy().client().get(live.fresh());
            ProxyExtension.await("both", () -> live.proxy().origin().requests() - before + waiting() == 2);
            int sent = live.proxy().origin().requests() - before;
            gate.countDown();
            one.response();
            two.response();
            return sent;
        });
    }

    @LiveKey("origin.source_address")
    void sourceAddress() throws Exception {
        live.script(request -> request.ok(
                        "Cache-Control: no-store\r\n",
                        RawInput.latin1(request.socket().getInetAddress().getHostAddress())))
                .file("origin: {source_address: <[]|[127.0.0.2, '::1']>}")
                .turns("127.0.0.1", "127.0.0.2", () -> live.text(live.fresh()));
    }

    /** Returns the status of a response that the origin begins after the limit, or without one. */
    @LiveKey("timeouts.transaction")
    void transaction() throws Exception {
        behindTheGate()
                .file("timeouts: {transaction: <0|20ms>, client_header: 10ms}")
                .turns(200, 504, () -> {
                    gate = new CountDownLatch(1);
                    int before = live.proxy().origin().requests();
                    RawClient client = live.proxy().client().get(live.fresh());
                    ProxyExtension.await(
                            "the request", () -> live.proxy().origin().requests() > before);
                    int status = whileTheGateIsShut(client).response().status();
                    gate.countDown();
                    return status;
                });
    }

    @LiveKey("origin.queue_max")
    void queueMax() throws Exception {
        behindTheGate()
                .file("origin: {connections_max: 1, queue_max: <1|0>}\ntimeouts: {client_header: 10ms}")
                .turns(200, 503, this::statusOfTheSecond);
    }

    @LiveKey("origin.queue_wait")
    void queueWait() throws Exception {
        behindTheGate()
                .file("origin: {connections_max: 1, queue_wait: <10m|1ms>}\ntimeouts: {client_header: 10ms}")
                .turns(200, 503, this::statusOfTheSecond);
    }

    /** A connection from before the change serves once more after it. */
    @LiveKey("origin.keep_alive")
    void keepAlive() throws Exception {
        live.file("origin: {keep_alive: <1h|10ms>}\ntimeouts: {client_header: 10ms}")
                .turns(1L, 0L, () -> {
                    live.get(live.fresh());
                    if (live.isChanged()) {
                        ProxyExtension.await(
                                "the connection's end", () -> live.origins(OriginStatistics::connectionsIdle) == 0);
                    } else {
                        live.lull();
                    }
                    return live.origins(OriginStatistics::connectionsIdle);
                });
    }

    /** Also for a connection from before the change. */
    @LiveKey("origin.keep_alive_max")
    void keepAliveMax() throws Exception {
        live.file("origin: {keep_alive_max: <64|0>}").turns(1L, 0L, () -> {
            live.get(live.fresh());
            return live.origins(OriginStatistics::connectionsIdle);
        });
    }

    /** Returns whether the origin receives the request before the content is complete. */
    @LiveKey("origin.request_buffer")
    void requestBuffer() throws Exception {
        live.script(request -> {
                    if (request.has("POST")) {
                        request.awaitClose();
                    } else {
                        request.ok("Cache-Control: no-store\r\n", new byte[0]);
                    }
                })
                .file("origin: {request_buffer: <1KiB|0>}")
                .turns(0, 1, () -> {
                    int before = live.proxy().origin().requests();
                    RawClient client = live.proxy()
                            .client()
                            .send("POST / HTTP/1.1\r\nHost: test.example\r\nContent-Length: 10\r\n\r\nabc");
                    ProxyExtension.await("the upload", () -> live.proxy().counted(Counter.REQUESTS_ACTIVE) == 1);
                    live.proxy().get(live.fresh());
                    if (live.isChanged()) {
                        ProxyExtension.await("both", () -> live.proxy().origin().requests() == before + 2);
                    }
                    client.close();
                    ProxyExtension.await("the end", () -> live.proxy().counted(Counter.REQUESTS_ACTIVE) == 0);
                    return live.proxy().origin().requests() - before - 1;
                });
    }

    /** On a connection from before the change. */
    @LiveKey("limits.response_header")
    void responseHeader() throws Exception {
        live.answers("A: " + "a".repeat(2000) + "\r\n")
                .file("limits: {response_header: <64KiB|1KiB>}")
                .turns(200, 502, () -> live.status(live.fresh()));
    }

    @LiveKey("timeouts.origin_first_byte")
    void firstByte() throws Exception {
        behindTheGate()
                .file("timeouts: {origin_first_byte: <1h|10ms>, client_header: 10ms}")
                .turns(200, 504, () -> {
                    gate = new CountDownLatch(1);
                    RawClient client = live.proxy().client().get(live.fresh());
                    int status = whileTheGateIsShut(client).response().status();
                    gate.countDown();
                    return status;
                });
    }

    /** The origin stops during its response. */
    @LiveKey("timeouts.origin_idle")
    void idle() throws Exception {
        live.script(request -> {
                    request.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nCache-Control: no-store\r\n\r\n12345");
                    gate.await();
                    request.send("67890");
                })
                .file("timeouts: {origin_idle: <1h|10ms>, client_header: 10ms}")
                .turns("whole", "broken off", () -> {
                    gate = new CountDownLatch(1);
                    RawClient client = live.proxy().client().get(live.fresh());
                    client.head();
                    String content;
                    try {
                        whileTheGateIsShut(client).in.read(10);
                        content = "whole";
                    } catch (IOException e) {
                        content = "broken off";
                    }
                    gate.countDown();
                    return content;
                });
    }

    /** The name server answers slowly; the lookup counts as a part of the time. */
    @LiveKey("timeouts.origin_connect")
    void connect() throws Exception {
        try (ScriptedNameServer names = new ScriptedNameServer()) {
            for (String name : new String[] {"one.test", "two.test"}) {
                names.on(name, query -> {
                    try {
                        gate.await();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                    return List.of(query.addresses(60, "127.0.0.1"));
                });
            }
            live.file("""
                            remap: [{regex_map: 'http://(.*)/', to: 'http://$1:@origin_port/'}]
                            dns: {name_servers: ['127.0.0.1:%d']}
                            timeouts: {origin_connect: <1h|10ms>, client_header: 10ms}
                            """.formatted(names.address().getPort())).turns(200, 504, () -> {
                gate = new CountDownLatch(1);
                RawClient client = live.proxy()
                        .client()
                        .send("GET / HTTP/1.1\r\nHost: " + (live.isChanged() ? "two" : "one") + ".test\r\n\r\n");
                int status = whileTheGateIsShut(client).response().status();
                gate.countDown();
                return status;
            });
        }
    }
}
