package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.fetch.OriginStatistics;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.origin.FleetMembers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests live changes of groups of origins: the choice of the host, and retries. */
class LiveOriginsTest {
    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    /** Keeps origins from answering. */
    private volatile CountDownLatch gate = new CountDownLatch(0);

    /** Returns a group of these hosts. The first available host receives all requests unless the settings differ. */
    private LiveProxy group(String settings, String... hosts) {
        String policy = settings.contains("policy:") ? "" : "policy: first_live, ";
        return live.file("origins: [{name: shop, " + policy + settings + ", hosts: [" + String.join(", ", hosts)
                + "]}]\nremap: [{map: /, to: 'http://shop.internal/', origins: shop}]");
    }

    /** Returns a host that answers with a word. */
    private String host(String word) throws IOException {
        return "'" + live.origin(word).url() + "'";
    }

    private static RawOrigin.Script failing(int status) {
        return request -> request.send("HTTP/1.1 " + status + " x\r\nContent-Length: 0\r\n\r\n");
    }

    private static String url(RawOrigin origin) {
        return "'" + origin.url() + "'";
    }

    /** Returns the hosts that answer for this many URLs. */
    private Set<String> whoAnswers(int urls, String path) throws IOException {
        Set<String> who = new TreeSet<>();
        for (int i = 0; i < urls; i++) {
            who.add(live.text(path + i));
        }
        return who;
    }

    private String answer() throws IOException {
        return live.text(live.fresh());
    }

    private int status() throws IOException {
        return live.status(live.fresh());
    }

    private long waiting() {
        return live.origins(OriginStatistics::callsWaiting);
    }

    @LiveKey("origins")
    void groups() throws Exception {
        live.file("""
                        origins: [<{name: shop, hosts: ['%s']}|{name: shop, hosts: ['%s']}>]
                        remap: [{map: /, to: 'http://shop.internal/', origins: shop}]
                        """.formatted(live.origin("one").url(), live.origin("two").url()))
                .turns("one", "two", this::answer);
    }

    @LiveKey("origins[].name")
    void name() throws Exception {
        live.file("""
                        origins: [{name: <one|two>, hosts: ['@origin']}]
                        remap: [{map: /, to: 'http://shop.internal/', origins: <one|two>}]
                        """).turns(true, false, () -> {
            live.get(live.fresh());
            return live.proxy().proxy().metricsText().contains("group=\"one\"");
        });
    }

    @LiveKey("origins[].policy")
    void policy() throws Exception {
        group("policy: <first_live|round_robin>", host("one"), host("two"))
                .turns(Set.of("one"), Set.of("one", "two"), () -> whoAnswers(4, "/"));
    }

    /** Which of two hosts receives a query is random; all 64 queries to one host are improbable. */
    @LiveKey("origins[].hash_key")
    void hashKey() throws Exception {
        group("policy: consistent_hash, hash_key: <path|path_query>", host("one"), host("two"))
                .turns(1, 2, () -> whoAnswers(64, "/?").size());
    }

    /** In the other mode a backup answers for the URLs of the host that fails. */
    @LiveKey("origins[].ring_mode")
    void ringMode() throws Exception {
        String backup = "{url: " + host("backup") + ", backup: true}";
        String failing = url(live.origin(failing(503)));
        group(
                        "policy: consistent_hash, ring_mode: <exhaust_ring|alternate_ring>, markdown: {fail_threshold: 0}",
                        failing,
                        host("one"),
                        backup)
                .turns(false, true, () -> whoAnswers(64, "/").contains("backup"));
    }

    @LiveKey("origins[].hosts")
    void hosts() throws Exception {
        live.file("""
                        origins: [{name: shop, hosts: ['%s'<|, '%s'>]}]
                        remap: [{map: /, to: 'http://shop.internal/', origins: shop}]
                        """.formatted(live.origin("one").url(), live.origin("two").url()))
                .turns(1, 2, () -> whoAnswers(4, "/").size());
    }

    @LiveKey("origins[].hosts_from.fleet_tier")
    void fleetTier() throws Exception {
        FleetMembers nodes = FleetMembers.parse("n1 one " + live.origin("one").url() + " other\nn2 two "
                + live.origin("two").url() + " other\nn3 one http://127.0.0.1:1 self\n");
        live.file("""
                        fleet: {name: cdn, servers: ['nats://n.example:4222'], node: n3}
                        origins: [{name: shop, hosts_from: {fleet_tier: <one|two>}}]
                        remap: [{map: /, to: 'http://shop.internal/', origins: shop}]
                        """).turns("one", "two", () -> {
            live.proxy().proxy().shared().groups().members(nodes, 0);
            return answer();
        });
    }

    @LiveKey("origins[].hosts[].url")
    void hostUrl() throws Exception {
        group("go_direct: false", "{url: <" + host("one") + "|" + host("two") + ">}")
                .turns("one", "two", this::answer);
    }

    @LiveKey("origins[].hosts[].weight")
    void weight() throws Exception {
        group("policy: round_robin", "{url: " + host("one") + ", weight: <1|9>}", host("two"))
                .turns(10, 18, () -> {
                    int ones = 0;
                    for (int i = 0; i < 20; i++) {
                        ones += answer().equals("one") ? 1 : 0;
                    }
                    return ones;
                });
    }

    @LiveKey("origins[].hosts[].backup")
    void backup() throws Exception {
        group("go_direct: false", "{url: " + host("one") + ", backup: <false|true>}", host("two"))
                .turns("one", "two", this::answer);
    }

    @LiveKey("origins[].hosts[].self")
    void self() throws Exception {
        group("go_direct: false", "{url: " + host("one") + ", self: <false|true>}", host("two"))
                .turns("one", "two", this::answer);
    }

    /** Two concurrent requests, of which the second one is sent too, or waits. */
    @LiveKey("origins[].connections_max")
    void connectionsMax() throws Exception {
        RawOrigin origin = gated();
        group("connections_max: <2|1>", url(origin)).turns(2, 1, () -> {
            gate = new CountDownLatch(1);
            int before = origin.requests();
            RawClient one = live.proxy().client().get(live.fresh());
            RawClient two = live.proxy().client().get(live.fresh());
            ProxyExtension.await("both", () -> origin.requests() - before + waiting() == 2);
            int sent = origin.requests() - before;
            gate.countDown();
            one.response();
            two.response();
            return sent;
        });
    }

    /** Two concurrent requests, of which the second one is sent too, or waits. */
    @LiveKey("origins[].connections_total_max")
    void connectionsTotalMax() throws Exception {
        RawOrigin origin = gated();
        group("connections_total_max: <2|1>", url(origin)).turns(2, 1, () -> {
            gate = new CountDownLatch(1);
            int before = origin.requests();
            RawClient one = live.proxy().client().get(live.fresh());
            RawClient two = live.proxy().client().get(live.fresh());
            ProxyExtension.await("both", () -> origin.requests() - before + waiting() == 2);
            int sent = origin.requests() - before;
            gate.countDown();
            one.response();
            two.response();
            return sent;
        });
    }

    /** A host at another socket is another server, although its URL is the same. */
    @LiveKey("origins[].hosts[].unix_socket")
    void unixSocket() throws Exception {
        Path sockets = Files.createTempDirectory("unix");
        try (UnixOrigin one = new UnixOrigin(sockets.resolve("one"), "one");
                UnixOrigin two = new UnixOrigin(sockets.resolve("two"), "two")) {
            live.in(sockets);
            group("connections_max: 9", "{url: 'http://app.internal', unix_socket: <one|two>}")
                    .turns("one for shop.internal", "two for shop.internal", this::answer);
            assertEquals(1, one.connections() * two.connections());
        } finally {
            Files.delete(sockets);
        }
    }

    @LiveKey("origins[].source_address")
    void sourceAddress() throws Exception {
        RawOrigin origin = live.origin(request -> request.ok(
                "Cache-Control: no-store\r\n",
                RawInput.latin1(request.socket().getInetAddress().getHostAddress())));
        group("source_address: <127.0.0.3|127.0.0.2>", url(origin)).turns("127.0.0.3", "127.0.0.2", this::answer);
    }

    @LiveKey("origins[].queue_max")
    void queueMax() throws Exception {
        RawOrigin origin = gated();
        group("connections_max: 1, queue_max: <1|0>", url(origin)).turns(200, 503, () -> {
            gate = new CountDownLatch(1);
            int before = origin.requests();
            long refused = live.proxy().counted(Counter.ORIGIN_FAILURES_LIMIT);
            RawClient one = live.proxy().client().get(live.fresh());
            ProxyExtension.await("the first", () -> origin.requests() > before);
            RawClient two = live.proxy().client().get(live.fresh());
            ProxyExtension.await(
                    "the second",
                    () -> waiting() == 1 || live.proxy().counted(Counter.ORIGIN_FAILURES_LIMIT) > refused);
            gate.countDown();
            one.response();
            return two.response().status();
        });
    }

    private RawOrigin gated() throws IOException {
        return live.origin(request -> {
            gate.await();
            request.ok("Cache-Control: no-store\r\n", new byte[0]);
        });
    }

    @LiveKey("origins[].parent_is_proxy")
    void parentIsProxy() throws Exception {
        RawOrigin echoing =
                live.origin(request -> request.ok("Cache-Control: no-store\r\n", RawInput.latin1(request.head())));
        group("parent_is_proxy: <false|true>", url(echoing))
                .turns("GET /a HTTP/1.1", "GET http://shop.internal/a HTTP/1.1", () -> live.text("/a")
                        .split("\r\n", 2)[0]);
    }

    @LiveKey("origins[].go_direct")
    void goDirect() throws Exception {
        live.file("""
                        origins: [{name: shop, go_direct: <false|true>, hosts: ['%s']}]
                        remap: [{map: /, to: '@origin', origins: shop}]
                        """.formatted(live.origin(RawOrigin.Exchange::reset).url())).turns(502, 200, this::status);
    }

    @LiveKey("origins[].when_all_down")
    void whenAllDown() throws Exception {
        RawOrigin failing = live.origin(failing(503));
        group("when_all_down: <try|fail>, markdown: {fail_threshold: 1}", url(failing))
                .start();
        live.get(live.fresh());
        live.turns(1, 0, () -> {
            int before = failing.requests();
            live.get(live.fresh());
            return failing.requests() - before;
        });
    }

    @LiveKey("origins[].retry.tries")
    void tries() throws Exception {
        group("retry: {tries: <1|2>}", url(live.origin(failing(503))), host("one"))
                .turns(503, 200, this::status);
    }

    @LiveKey("origins[].retry.response_codes")
    void responseCodes() throws Exception {
        group("retry: {response_codes: [<502|503>]}", url(live.origin(failing(503))), host("one"))
                .turns(503, 200, this::status);
    }

    /** The first host takes a minute of the proxy's clock. */
    @LiveKey("origins[].retry.within")
    void within() throws Exception {
        RawOrigin slow = live.origin(request -> {
            live.proxy().advanceSeconds(60);
            failing(503).answer(request);
        });
        group("retry: {within: <1s|1h>}, markdown: {fail_threshold: 0}", url(slow), host("one"))
                .turns(503, 200, this::status);
    }
}
