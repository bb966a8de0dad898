package io.millrace.proxy;

import io.millrace.proxy.fetch.OriginStatistics;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.origin.KeyHash;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests live changes of CORS, canary splits and mirrored requests. */
class LiveEdgeTest {
    private static final String A = "Origin: https://a.example\r\n";

    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    private String allowed() throws IOException {
        return String.valueOf(live.get(live.fresh(), A).field("access-control-allow-origin"));
    }

    private String preflight(String field) throws IOException {
        try (RawClient client = live.proxy().client()) {
            String answer = client.send("OPTIONS / HTTP/1.1\r\nHost: test.example\r\n" + A
                            + "Access-Control-Request-Method: PUT\r\n\r\n")
                    .response()
                    .field(field);
            return String.valueOf(answer);
        }
    }

    @LiveKey("cors.enabled")
    void enabled() throws Exception {
        live.file("cors: {origins: '*', enabled: <true|false>}").turns("*", "null", this::allowed);
    }

    @LiveKey("cors.origins")
    void origins() throws Exception {
        live.file("cors: {origins: 'https://<a|b>.example'}").turns("https://a.example", "null", this::allowed);
    }

    @LiveKey("cors.methods")
    void methods() throws Exception {
        live.file("cors: {origins: '*', methods: [<PUT|GET>]}")
                .turns("PUT", "GET", () -> preflight("access-control-allow-methods"));
    }

    @LiveKey("cors.headers")
    void headers() throws Exception {
        live.file("cors: {origins: '*', headers: [<X-A|X-B>]}")
                .turns("X-A", "X-B", () -> preflight("access-control-allow-headers"));
    }

    @LiveKey("cors.expose")
    void expose() throws Exception {
        live.file("cors: {origins: '*', expose: [<X-A|X-B>]}")
                .turns("X-A", "X-B", () -> live.get(live.fresh(), A).field("access-control-expose-headers"));
    }

    @LiveKey("cors.credentials")
    void credentials() throws Exception {
        live.file("cors: {origins: 'https://a.example', credentials: <true|false>}")
                .turns("true", "null", () -> preflight("access-control-allow-credentials"));
    }

    @LiveKey("cors.max_age")
    void maxAge() throws Exception {
        live.file("cors: {origins: '*', max_age: <1m|2m>}")
                .turns("60", "120", () -> preflight("access-control-max-age"));
    }

    // Canary splits

    private static final String CANARY = "Cookie: canary=1\r\n";

    private static RawOrigin.Script stored(String word) {
        return request -> request.ok("Cache-Control: max-age=60\r\n", RawInput.latin1(word));
    }

    /** Sets the keys of a branch, and its origin as @branch. */
    private LiveProxy split(String rule, String branch) throws IOException {
        live.script(stored("own"));
        String url = "'" + live.origin(stored("branch")).url() + "'";
        return live.file(
                "remap: [{map: /, to: '@origin', " + rule + "split: [{" + branch.replace("@branch", url) + "}]}]");
    }

    private String answer(String... fields) throws IOException {
        return live.text(live.fresh(), fields);
    }

    @LiveKey("remap[].split")
    void split() throws Exception {
        split("", "to: @branch, cookie: canary<|}, {name: b, to: 'http://127.0.0.1:1', weight: 100>")
                .turns(200, 502, () -> live.status(live.fresh()));
    }

    @LiveKey("remap[].split_by")
    void splitBy() throws Exception {
        byte[] address = {127, 0, 0, 1};
        boolean isInBranch = isInHalf(address);
        int value = 0;
        while (isInHalf(String.valueOf(value).getBytes(java.nio.charset.StandardCharsets.ISO_8859_1)) == isInBranch) {
            value++;
        }
        String cookie = "Cookie: uid=" + value + "\r\n";
        split("split_by: '<client|cookie[\"uid\"]>', ", "to: @branch, weight: 50")
                .turns(isInBranch ? "branch" : "own", isInBranch ? "own" : "branch", () -> answer(cookie));
    }

    private static boolean isInHalf(byte[] bytes) {
        return (KeyHash.of(bytes, 0, bytes.length) & Long.MAX_VALUE) % 10_000 < 5_000;
    }

    @LiveKey("remap[].split[].name")
    void branchName() throws Exception {
        split("", "name: <one|two>, to: @branch, weight: 100").turns(false, true, () -> {
            answer();
            return live.proxy().proxy().metricsText().contains("branch=\"two\"");
        });
    }

    @LiveKey("remap[].split[].to")
    void branchTo() throws Exception {
        live.file("remap: [{map: /, to: '@origin', split: [{name: a, to: '<%s|%s>', weight: 100}]}]"
                        .formatted(live.origin("one").url(), live.origin("two").url()))
                .turns("one", "two", this::answer);
    }

    @LiveKey("remap[].split[].origins")
    void branchOrigins() throws Exception {
        live.file("""
                        origins: [{name: one, hosts: ['%s']}, {name: two, hosts: ['%s']}]
                        remap: [{map: /, to: '@origin', split: [{name: a, origins: <one|two>, weight: 100}]}]
                        """.formatted(live.origin("one").url(), live.origin("two").url()))
                .turns("one", "two", this::answer);
    }

    @LiveKey("remap[].split[].weight")
    void branchWeight() throws Exception {
        split("", "to: @branch, weight: <100|0.01>").turns("branch", "own", this::answer);
    }

    @LiveKey("remap[].split[].cookie")
    void branchCookie() throws Exception {
        split("", "to: @branch, cookie: <canary|other>=1").turns("branch", "own", () -> answer(CANARY));
    }

    @LiveKey("remap[].split[].separate_cache")
    void separateCache() throws Exception {
        split("", "to: @branch, cookie: canary, separate_cache: <true|false>").turns("own", "branch", () -> {
            String path = live.fresh();
            live.get(path, CANARY);
            return live.text(path);
        });
    }

    // Mirrored requests

    private volatile CountDownLatch gate = new CountDownLatch(0);

    /** Starts the other origin, whose URL stands for @copies. */
    private RawOrigin copies(String keys) throws IOException {
        RawOrigin other = live.origin(request -> {
            readContent(request);
            gate.await();
            request.ok("", new byte[0]);
        });
        live.script(request -> {
            readContent(request);
            request.ok("", new byte[0]);
        });
        live.file("mirror: {" + keys.replace("@copies", "'" + other.url() + "'") + "}");
        return other;
    }

    private static void readContent(RawOrigin.Exchange request) throws IOException {
        String length = RawClient.field(request.head(), "content-length");
        request.in().read(length == null ? 0 : Integer.parseInt(length));
    }

    private long counted(Counter counter) {
        return live.proxy().counted(counter);
    }

    private void awaitCopies(long count) {
        ProxyExtension.await(
                "the copies",
                () -> counted(Counter.MIRRORED_SENT)
                                + counted(Counter.MIRRORED_DROPPED)
                                + counted(Counter.MIRRORED_FAILED)
                        == count);
    }

    private int post(int length) throws IOException {
        try (RawClient client = live.proxy().client()) {
            return client.send("POST " + live.fresh() + " HTTP/1.1\r\nHost: test.example\r\nContent-Length: " + length
                            + "\r\n\r\n" + "a".repeat(length))
                    .response()
                    .status();
        }
    }

    @LiveKey("mirror.to")
    void mirrorTo() throws Exception {
        RawOrigin one = live.origin("one");
        RawOrigin two = live.origin("two");
        long[] requests = {0};
        live.file("mirror: {to: '<" + one.url() + "|" + two.url() + ">'}").turns(0, 1, () -> {
            live.get(live.fresh());
            awaitCopies(++requests[0]);
            return two.requests();
        });
    }

    @LiveKey("mirror.sample")
    void mirrorSample() throws Exception {
        RawOrigin other = copies("to: @copies, sample: <100|0>%");
        live.turns(1, 0, () -> {
            int before = other.requests();
            live.get(live.fresh());
            if (!live.isChanged()) {
                awaitCopies(1);
            }
            return other.requests() - before;
        });
    }

    @LiveKey("mirror.bodies")
    void mirrorBodies() throws Exception {
        RawOrigin other = copies("to: @copies, bodies: <true|false>");
        live.turns(1, 0, () -> {
            int before = other.requests();
            post(0);
            awaitCopies(live.isChanged() ? 4 : 1);
            post(5);
            live.get(live.fresh());
            awaitCopies(live.isChanged() ? 5 : 3);
            return other.requests() - before - 2;
        });
    }

    @LiveKey("mirror.body_max")
    void mirrorBodyMax() throws Exception {
        copies("to: @copies, bodies: true, body_max: <2|1>KiB");
        live.turns(0L, 1L, () -> {
            post(1500);
            awaitCopies(live.isChanged() ? 2 : 1);
            return counted(Counter.MIRRORED_DROPPED);
        });
    }

    @LiveKey("mirror.connections")
    void mirrorConnections() throws Exception {
        RawOrigin other = copies("to: @copies, connections: <1|2>");
        live.turns(1, 2, () -> {
            gate = new CountDownLatch(1);
            int before = other.requests();
            live.proxy().get(live.fresh());
            live.proxy().get(live.fresh());
            ProxyExtension.await(
                    "two copies",
                    () -> other.requests() == before + (live.origins(OriginStatistics::callsWaiting) == 1 ? 1 : 2));
            int atOnce = other.requests() - before;
            gate.countDown();
            awaitCopies(live.isChanged() ? 4 : 2);
            return atOnce;
        });
    }

    @LiveKey("mirror.queue")
    void mirrorQueue() throws Exception {
        copies("to: @copies, connections: 1, queue: <0|1>");
        live.turns(1L, 0L, () -> {
            gate = new CountDownLatch(1);
            long before = counted(Counter.MIRRORED_DROPPED);
            live.proxy().get(live.fresh());
            live.proxy().get(live.fresh());
            ProxyExtension.await(
                    "the second copy",
                    () -> counted(Counter.MIRRORED_DROPPED) > before
                            || live.origins(OriginStatistics::callsWaiting) == 1);
            long dropped = counted(Counter.MIRRORED_DROPPED) - before;
            gate.countDown();
            awaitCopies(live.isChanged() ? 4 : 2);
            return dropped;
        });
    }
}
