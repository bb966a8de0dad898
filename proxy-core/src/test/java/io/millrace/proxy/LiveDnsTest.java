package io.millrace.proxy;

import io.millrace.proxy.dns.ScriptedNameServer;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.server.ServingLoop;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests live changes of DNS settings. Every request opens a new connection, for which the address of its host is
 * needed.
 */
class LiveDnsTest {
    private static final String HERE = "127.0.0.1";

    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    @TempDir
    Path directory;

    private final CountDownLatch gate = new CountDownLatch(1);
    private ScriptedNameServer first;
    private ScriptedNameServer second;

    @BeforeEach
    void startNameServers() throws IOException {
        first = new ScriptedNameServer();
        second = new ScriptedNameServer();
    }

    @AfterEach
    void closeNameServers() throws IOException {
        gate.countDown();
        first.close();
        second.close();
    }

    private static String at(ScriptedNameServer server) {
        return "'127.0.0.1:" + server.address().getPort() + "'";
    }

    /** Returns an origin for every host by its name. */
    private LiveProxy file(String dns) {
        return live.file("""
                remap: [{regex_map: 'http://(.*)/', to: 'http://$1:@origin_port/'}]
                cache: {enabled: false}
                origin: {keep_alive: 0s}
                timeouts: {client_header: 10ms}
                dns: {%s}
                """.formatted(dns));
    }

    private RawClient ask(String host) throws IOException {
        return live.proxy().client().send("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
    }

    private RawClient.Response get(String host) throws IOException {
        try (RawClient client = ask(host)) {
            return client.response();
        }
    }

    private int status(String host) throws IOException {
        return get(host).status();
    }

    private static long asked(ScriptedNameServer server, String host) {
        return server.asked().stream().filter(host::equals).count();
    }

    /**
     * Returns the number of queries to the first server for the addresses of a host that are needed twice; after the
     * change, waits until it is queried again.
     */
    private long askedTwice(String host) {
        long before = asked(first, host);
        getOften(host);
        if (live.isChanged()) {
            ProxyExtension.await("the end of the answer's time", () -> {
                getOften(host);
                return asked(first, host) > before + 1;
            });
        } else {
            getOften(host);
        }
        return asked(first, host) - before;
    }

    private long staleAnswers() {
        ServingLoop loop = live.proxy().proxy().loops().get(0);
        return loop.loop()
                .submit(() -> loop.origins().dns().stale())
                .awaitUninterruptibly()
                .getNow();
    }

    private RawClient.Response getOften(String host) {
        try {
            return get(host);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @LiveKey("dns.name_servers")
    void nameServers() throws Exception {
        second.has("one.test", 60, HERE);
        file("name_servers: [<" + at(first) + "|" + at(second) + ">]").turns(502, 200, () -> status("one.test"));
    }

    @LiveKey("dns.split")
    void split() throws Exception {
        second.has("one.test", 60, HERE);
        file("name_servers: [" + at(first) + "], split: [<|{domains: [test], name_servers: [" + at(second) + "]}>]")
                .turns(502, 200, () -> status("one.test"));
    }

    @LiveKey("dns.split[].domains")
    void domains() throws Exception {
        second.has("one.test", 60, HERE);
        file("name_servers: [" + at(first) + "], split: [{domains: [<other|test>], name_servers: [" + at(second)
                        + "]}]")
                .turns(502, 200, () -> status("one.test"));
    }

    @LiveKey("dns.split[].name_servers")
    void serversOfDomains() throws Exception {
        second.has("one.test", 60, HERE);
        file("name_servers: [" + at(first) + "], split: [{domains: [test], name_servers: [<" + at(first) + "|"
                        + at(second) + ">]}]")
                .turns(502, 200, () -> status("one.test"));
    }

    @LiveKey("dns.srv")
    void services() throws Exception {
        first.has("there.test", 60, HERE);
        RawOrigin origin = live.origin("service");
        first.hasServices("one.test", 60, new ScriptedNameServer.Service(0, 0, origin.port(), "there.test"));
        live.file("""
                        remap: [{map: /, to: 'http://one.test/'}]
                        dns: {name_servers: [%s], srv: <false|true>}
                        """.formatted(at(first))).turns(502, 200, () -> status("one.test"));
    }

    @LiveKey("dns.hosts_file")
    void hostsFile() throws Exception {
        Files.writeString(directory.resolve("one"), "127.0.0.1 other.test\n");
        Files.writeString(directory.resolve("two"), "127.0.0.1 one.test\n");
        file("name_servers: [" + at(first) + "], hosts_file: '" + directory + "/<one|two>'")
                .turns(502, 200, () -> status("one.test"));
    }

    /** The address family that is queried first. */
    @LiveKey("dns.prefer")
    void prefer() throws Exception {
        List<String> types = Collections.synchronizedList(new ArrayList<>());
        first.on("one.test", query -> {
            types.add(query.isForA ? "A" : "AAAA");
            return List.of(query.addresses(60, HERE));
        });
        file("name_servers: [" + at(first) + "], prefer: <ipv4|ipv6>").turns("A", "AAAA", () -> {
            types.clear();
            status("one.test");
            return types.get(0);
        });
    }

    /** The first server answers slowly, so the second one is queried. */
    @LiveKey("dns.query_timeout")
    void queryTimeout() throws Exception {
        first.on("one.test", query -> {
            awaitGate();
            return List.of(query.addresses(60, HERE));
        });
        second.has("two.test", 60, HERE);
        first.ignores("two.test");
        file("name_servers: [" + at(first) + ", " + at(second) + "], query_timeout: <1m|50ms>")
                .turns(0L, 1L, () -> {
                    if (live.isChanged()) {
                        status("two.test");
                        return asked(second, "two.test");
                    }
                    RawClient client = ask("one.test");
                    live.lull();
                    gate.countDown();
                    client.response();
                    return asked(second, "one.test");
                });
    }

    private void awaitGate() {
        try {
            gate.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @LiveKey("dns.ttl_min")
    void ttlMin() throws Exception {
        first.has("one.test", 0, HERE);
        file("name_servers: [" + at(first) + "], ttl_min: <1h|1s>").turns(1L, 2L, () -> askedTwice("one.test"));
    }

    @LiveKey("dns.ttl_max")
    void ttlMax() throws Exception {
        first.has("one.test", 3600, HERE);
        file("name_servers: [" + at(first) + "], ttl_max: <1h|1s>").turns(1L, 2L, () -> askedTwice("one.test"));
    }

    @LiveKey("dns.negative_ttl")
    void negativeTtl() throws Exception {
        file("name_servers: [" + at(first) + "], negative_ttl: <1h|10ms>").turns(1L, 2L, () -> askedTwice("none.test"));
    }

    /** The answer is valid for a second; then no server answers. */
    @LiveKey("dns.serve_stale_for")
    void serveStaleFor() throws Exception {
        file("name_servers: [" + at(first)
                        + "], ttl_max: 1s, negative_ttl: 1s, query_timeout: 50ms, serve_stale_for: <1h|0s>")
                .turns(200, 502, () -> {
                    first.has("one.test", 60, HERE);
                    status("one.test");
                    first.ignores("one.test");
                    ProxyExtension.await(
                            "the end of its time",
                            () -> getOften("one.test").status() == 502 || (!live.isChanged() && staleAnswers() > 0));
                    return status("one.test");
                });
    }

    /** One of two addresses fails, and recovers. */
    @LiveKey("dns.down_time")
    void downTime() throws Exception {
        first.has("one.test", 60, HERE, "127.0.0.2");
        live.answers("").file("");
        file("name_servers: [" + at(first) + "], down_time: <1h|0s>").start();
        live.turns(1, 2, () -> {
            answers();
            RawOrigin other = live.keep(new RawOrigin(
                    request -> request.ok("", RawInput.latin1("other")),
                    new InetSocketAddress("127.0.0.2", live.proxy().origin().port())));
            int answers = answers().size();
            other.close();
            return answers;
        });
    }

    private Set<String> answers() throws IOException {
        Set<String> answers = new TreeSet<>();
        for (int i = 0; i < 4; i++) {
            answers.add(get("one.test").text().equals("other") ? "other" : "origin");
        }
        return answers;
    }

    /** The first of seventeen hosts is evicted or still cached. */
    @LiveKey("dns.hosts_max")
    void hostsMax() throws Exception {
        for (int i = 0; i <= 16; i++) {
            first.has("h" + i + ".test", 3600, HERE);
        }
        file("name_servers: [" + at(first) + "], hosts_max: <10000|16>").turns(1L, 2L, () -> {
            long before = asked(first, "h0.test");
            for (int i = 0; i <= 16; i++) {
                get("h" + i + ".test");
            }
            get("h0.test");
            return asked(first, "h0.test") - before;
        });
    }

    /** Two hosts are looked up at the same time. */
    @LiveKey("dns.in_flight_max")
    void inFlightMax() throws Exception {
        for (String name : new String[] {"one.test", "two.test", "three.test", "four.test"}) {
            first.ignores(name);
        }
        file("name_servers: [" + at(first) + "], query_timeout: 1m, in_flight_max: <2|1>")
                .turns(0L, 1L, () -> {
                    long failed = live.proxy().counted(Counter.ORIGIN_FAILURES_DNS);
                    String one = live.isChanged() ? "three.test" : "one.test";
                    String two = live.isChanged() ? "four.test" : "two.test";
                    ask(one);
                    ProxyExtension.await("the first", () -> asked(first, one) == 1);
                    ask(two);
                    ProxyExtension.await(
                            "the second",
                            () -> asked(first, two) == 1 || live.proxy().counted(Counter.ORIGIN_FAILURES_DNS) > failed);
                    return live.proxy().counted(Counter.ORIGIN_FAILURES_DNS) - failed;
                });
    }
}
