package io.millrace.proxy;

import io.millrace.proxy.origin.OriginGroup;
import io.millrace.proxy.origin.OriginHealth;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Tests live changes of the state of hosts in a group, during requests and checks. The first of two hosts is observed.
 */
class LiveHealthTest {
    /** Longer than an interval of ten seconds with its jitter, and shorter than two. */
    private static final int INTERVAL_SECONDS = 12;

    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    private final AtomicInteger requests = new AtomicInteger();
    private final AtomicInteger checks = new AtomicInteger();
    private final AtomicInteger otherChecks = new AtomicInteger();
    private volatile CountDownLatch gate = new CountDownLatch(0);
    private volatile int status = 200;
    private volatile int checkStatus = 200;
    private volatile String lastCheck = "";

    /** Returns the observed group, and one whose host is checked every ten seconds. */
    private LiveProxy groups(String settings) throws IOException {
        RawOrigin first = live.origin(this::answer);
        RawOrigin second = live.origin("second");
        RawOrigin other = live.origin(request -> {
            otherChecks.incrementAndGet();
            request.ok("", new byte[0]);
        });
        return live.file("""
                timeouts: {client_header: 10ms}
                origins:
                  - name: shop
                    %s
                    hosts: ['%s', '%s']
                  - name: other
                    health_check: {path: /up, interval: 10s}
                    hosts: ['%s']
                remap: [{map: /, to: 'http://shop.internal/', origins: shop}]
                """.formatted(
                        settings.contains("policy") ? settings : "policy: first_live\n    " + settings,
                        first.url(),
                        second.url(),
                        other.url()));
    }

    private void answer(RawOrigin.Exchange request) throws Exception {
        int with;
        if (request.has("GET /up")) {
            lastCheck = request.head();
            with = checkStatus;
            checks.incrementAndGet();
            gate.await();
        } else {
            with = status;
            requests.incrementAndGet();
        }
        request.send("HTTP/1.1 " + with + " x\r\nCache-Control: no-store\r\nContent-Length: 0\r\n\r\n");
    }

    private OriginHealth.State state() {
        OriginGroup group =
                live.proxy().proxy().shared().groups().all().iterator().next();
        return group.hosts().get(0).health().state();
    }

    /** Returns the number of requests out of this many that the first host receives. */
    private int requestsOf(int count) throws IOException {
        int before = requests.get();
        for (int i = 0; i < count; i++) {
            live.get(live.fresh());
        }
        return requests.get() - before;
    }

    /** The same after some seconds. */
    private int requestsAfter(int seconds) throws IOException {
        live.proxy().advanceSeconds(seconds);
        return requestsOf(1);
    }

    /** Advances by an interval and begins the checks that are due, at most one for each host. */
    private void beginChecks() {
        awaitLoop();
        int before = otherChecks.get();
        live.proxy().advanceSeconds(INTERVAL_SECONDS);
        ProxyExtension.await("the other group's check", () -> otherChecks.get() > before);
        awaitLoop();
    }

    /** Waits for the first tick, or for the end of the current one. */
    private void awaitLoop() {
        live.proxy().proxy().loops().get(0).loop().submit(() -> {}).awaitUninterruptibly();
    }

    /** Returns the number of checks of the first host in an interval, after their results are known. */
    private int checks() {
        int before = checks.get();
        beginChecks();
        live.proxy().settle();
        return checks.get() - before;
    }

    @LiveKey("origins[].markdown.fail_threshold")
    void failThreshold() throws Exception {
        status = 503;
        groups("markdown: {fail_threshold: <0|1>}").turns(3, 1, () -> requestsOf(3));
    }

    @LiveKey("origins[].markdown.codes")
    void codes() throws Exception {
        status = 503;
        groups("markdown: {fail_threshold: 1, codes: [<500|503>]}").turns(3, 1, () -> requestsOf(3));
    }

    /** The host is already down: it waits no longer than if it went down now. */
    @LiveKey("origins[].markdown.retry_time")
    void retryTime() throws Exception {
        status = 503;
        groups("markdown: {fail_threshold: 1, retry_time: <1h|1s>, retry_time_max: 2h}")
                .start();
        requestsOf(1);
        live.turns(0, 1, () -> requestsAfter(10));
    }

    @LiveKey("origins[].markdown.retry_time_max")
    void retryTimeMax() throws Exception {
        status = 503;
        groups("markdown: {fail_threshold: 1, retry_time: 10s, retry_time_max: <1h|10s>}")
                .turns(0, 1, () -> {
                    requestsOf(1);
                    for (int seconds : new int[] {12, 24, 48}) {
                        requestsAfter(seconds);
                    }
                    return requestsAfter(20);
                });
    }

    /** After its trial the first host receives half of the requests, or a tenth of its weight. */
    @LiveKey("origins[].slow_start")
    void slowStart() throws Exception {
        groups("""
                        policy: round_robin
                            slow_start: <0|1h>
                            markdown: {fail_threshold: 1, retry_time: 1s}
                        """).turns(false, true, () -> {
            status = 503;
            requestsOf(2);
            status = 200;
            live.proxy().advanceSeconds(10);
            int before = requests.get();
            while (requests.get() == before) {
                live.get(live.fresh());
            }
            return requestsOf(20) < 5;
        });
    }

    @LiveKey("origins[].health_check.path")
    void path() throws Exception {
        groups("health_check: {path: /up/<one|two>, interval: 10s}").turns("/up/one", "/up/two", () -> {
            checks();
            return lastCheck.split(" ", 3)[1];
        });
    }

    @LiveKey("origins[].health_check.host")
    void host() throws Exception {
        groups("health_check: {path: /up, host: <one|two>.example, interval: 10s}")
                .turns("one.example", "two.example", () -> {
                    checks();
                    return RawClient.field(lastCheck, "host");
                });
    }

    /** The first check after a change was due before. */
    @LiveKey("origins[].health_check.interval")
    void interval() throws Exception {
        groups("health_check: {path: /up, interval: <10s|1h>}").turns(1, 0, () -> {
            checks();
            return checks();
        });
    }

    @LiveKey("origins[].health_check.timeout")
    void timeout() throws Exception {
        groups("health_check: {path: /up, interval: 10s, timeout: <5m|10ms>, unhealthy: 1}")
                .turns(OriginHealth.State.UP, OriginHealth.State.DOWN, () -> {
                    gate = new CountDownLatch(1);
                    beginChecks();
                    live.lull();
                    OriginHealth.State state = state();
                    gate.countDown();
                    live.proxy().settle();
                    return state;
                });
    }

    @LiveKey("origins[].health_check.status")
    void status() throws Exception {
        checkStatus = 204;
        groups("health_check: {path: /up, status: [<200|204>], interval: 10s, healthy: 1, unhealthy: 1}")
                .turns(OriginHealth.State.DOWN, OriginHealth.State.UP, () -> {
                    checks();
                    return state();
                });
    }

    @LiveKey("origins[].health_check.unhealthy")
    void unhealthy() throws Exception {
        groups("health_check: {path: /up, interval: 10s, unhealthy: <2|1>}")
                .turns(OriginHealth.State.UP, OriginHealth.State.DOWN, () -> {
                    checkStatus = 200;
                    checks();
                    checkStatus = 500;
                    checks();
                    return state();
                });
    }

    @LiveKey("origins[].health_check.healthy")
    void healthy() throws Exception {
        groups("health_check: {path: /up, interval: 10s, unhealthy: 1, healthy: <2|1>}")
                .turns(OriginHealth.State.DOWN, OriginHealth.State.UP, () -> {
                    checkStatus = 500;
                    checks();
                    checkStatus = 200;
                    checks();
                    return state();
                });
    }
}
