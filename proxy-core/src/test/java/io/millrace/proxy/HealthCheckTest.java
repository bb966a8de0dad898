package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.origins.OriginGroupConfig;
import io.millrace.proxy.config.origins.OriginGroupKeys;
import io.millrace.proxy.config.remap.RemapKeys;
import io.millrace.proxy.config.value.RemapVerb;
import io.millrace.proxy.origin.OriginHealth;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Tests health checks over real sockets, with a clock that the test sets: an interval is ten seconds, three checks
 * fail, two pass.
 */
class HealthCheckTest {
    /** Longer than an interval with its jitter. */
    private static final int INTERVAL_SECONDS = 12;

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension().withoutRules();

    private final AtomicInteger checks = new AtomicInteger();
    private volatile int status = 200;
    private volatile String lastCheck = "";
    private RawOrigin first;
    private RawOrigin second;

    @AfterEach
    void closeOrigins() throws IOException {
        first.close();
        second.close();
    }

    private void answer(RawOrigin.Exchange request) throws IOException {
        if (request.has("GET /up ")) {
            lastCheck = request.head();
            request.send("HTTP/1.1 " + status + " x\r\nContent-Length: 0\r\n\r\n");
            checks.incrementAndGet();
        } else {
            request.ok("Cache-Control: no-store\r\n", RawInput.latin1("first"));
        }
    }

    private void start(UnaryOperator<ConfigValues.Builder> more) throws IOException {
        first = new RawOrigin(this::answer);
        second = new RawOrigin(request -> request.ok("Cache-Control: no-store\r\n", RawInput.latin1("second")));
        proxy.start(request -> {}, config -> withGroup(config, more, true));
    }

    private ProxyConfig.Builder withGroup(
            ProxyConfig.Builder config, UnaryOperator<ConfigValues.Builder> more, boolean checked) {
        ConfigValues.Builder settings =
                ConfigValues.builder().set(OriginGroupKeys.POLICY, OriginGroupConfig.Policy.FIRST_LIVE);
        if (checked) {
            settings.set(OriginGroupKeys.HEALTH_PATH, "/up")
                    .set(OriginGroupKeys.HEALTH_INTERVAL, Duration.ofSeconds(10));
        }
        return config.origins("shop", more.apply(settings).build(), List.of(first.url(), second.url()))
                .rule(
                        RemapVerb.MAP,
                        "/",
                        "http://shop.internal/",
                        ConfigValues.builder().set(RemapKeys.ORIGINS, "shop").build());
    }

    /** Runs exactly one more check of the first host. */
    private void oneCheck() {
        int before = checks.get();
        proxy.advanceSeconds(INTERVAL_SECONDS);
        ProxyExtension.await("a check", () -> checks.get() > before);
        proxy.settle();
    }

    private OriginHealth health() {
        return proxy.proxy()
                .shared()
                .groups()
                .all()
                .iterator()
                .next()
                .hosts()
                .get(0)
                .health();
    }

    @Test
    void aHostThatFailsSoManyChecksInARowGetsNoRequestsThoughItAnswersThem() throws IOException {
        start(settings -> settings);
        status = 500;
        oneCheck();
        oneCheck();
        assertEquals("first", proxy.get("/a").text());
        oneCheck();
        assertEquals(OriginHealth.State.DOWN, health().state());
        assertEquals("health-check 500", health().reason());
        assertEquals("second", proxy.get("/a").text());
    }

    @Test
    void itReturnsWhenItHasPassedSoManyInARow() throws IOException {
        start(settings -> settings);
        status = 500;
        oneCheck();
        oneCheck();
        oneCheck();
        status = 200;
        oneCheck();
        assertEquals("second", proxy.get("/a").text());
        oneCheck();
        assertEquals("first", proxy.get("/a").text());
    }

    @Test
    void withOneCheckToPassTrafficReturnsAfterOneInterval() throws IOException {
        start(settings -> settings.set(OriginGroupKeys.HEALTHY, 1).set(OriginGroupKeys.UNHEALTHY, 1));
        status = 500;
        oneCheck();
        assertEquals("second", proxy.get("/a").text());
        status = 200;
        oneCheck();
        assertEquals("first", proxy.get("/a").text());
    }

    /** Earlier passed checks do not count for the recovery. */
    @Test
    void checksThatWerePassedBeforeRequestsFailedDoNotCount() throws IOException {
        start(settings -> settings);
        oneCheck();
        oneCheck();
        int port = first.port();
        first.close();
        for (int i = 0; i < 3; i++) {
            assertEquals("second", proxy.get("/a").text());
        }
        assertEquals(OriginHealth.State.DOWN, health().state());
        first = new RawOrigin(this::answer, port);
        oneCheck();
        assertEquals("second", proxy.get("/a").text());
        oneCheck();
        assertEquals("first", proxy.get("/a").text());
    }

    /** The answer to a check from the time when the host was up arrives when the host is down. */
    @Test
    void aCheckThatBeganBeforeRequestsFailedDoesNotBringTheHostBack() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        first = new RawOrigin(request -> {
            if (!request.has("GET /up ")) {
                request.reset();
                return;
            }
            asked.countDown();
            go.await();
            answer(request);
        });
        second = new RawOrigin(request -> request.ok("Cache-Control: no-store\r\n", RawInput.latin1("second")));
        proxy.start(
                request -> {}, config -> withGroup(config, settings -> settings.set(OriginGroupKeys.HEALTHY, 1), true));
        proxy.advanceSeconds(INTERVAL_SECONDS);
        asked.await();
        for (int i = 0; i < 3; i++) {
            assertEquals("second", proxy.get("/a").text());
        }
        assertEquals(OriginHealth.State.DOWN, health().state());
        go.countDown();
        ProxyExtension.await("the check's answer", () -> checks.get() == 1);
        proxy.settle();
        assertEquals(OriginHealth.State.DOWN, health().state());
        oneCheck();
        assertEquals(OriginHealth.State.UP, health().state());
    }

    @Test
    void noRequestGoesOnTrialWhereChecksDo() throws IOException {
        start(settings -> settings.set(OriginGroupKeys.HEALTH_INTERVAL, Duration.ofHours(1)));
        int port = first.port();
        first.close();
        for (int i = 0; i < 3; i++) {
            proxy.get("/a");
        }
        first = new RawOrigin(this::answer, port);
        proxy.advanceSeconds(60);
        assertEquals("second", proxy.get("/a").text());
        assertEquals(OriginHealth.State.DOWN, health().state());
    }

    @Test
    void aCheckThatIsNotAnsweredInTimeFails() throws IOException {
        first = new RawOrigin(RawOrigin.Exchange::awaitClose);
        second = new RawOrigin(request -> request.ok("", RawInput.latin1("second")));
        proxy.start(
                request -> {},
                config -> withGroup(
                        config,
                        settings -> settings.set(OriginGroupKeys.UNHEALTHY, 1)
                                .set(OriginGroupKeys.HEALTH_TIMEOUT, Duration.ofMillis(20)),
                        true));
        proxy.advanceSeconds(INTERVAL_SECONDS);
        ProxyExtension.await("the host is down", () -> health().state() == OriginHealth.State.DOWN);
        assertEquals("health-check first-byte-timeout", health().reason());
    }

    @Test
    void aCheckSendsTheConfiguredHost() throws IOException {
        start(settings -> settings.set(OriginGroupKeys.HEALTH_HOST, "shop.internal"));
        oneCheck();
        assertEquals("shop.internal", RawClient.field(lastCheck, "host"));
        assertTrue(RawClient.field(lastCheck, "user-agent").contains("millrace"), lastCheck);
    }

    @Test
    void afterAReloadEndsChecksRequestsAreTrialsAgain() throws IOException {
        start(settings -> settings.set(OriginGroupKeys.UNHEALTHY, 1));
        status = 500;
        oneCheck();
        assertEquals("second", proxy.get("/a").text());
        proxy.reload(config -> withGroup(config, settings -> settings, false));
        proxy.advanceSeconds(INTERVAL_SECONDS);
        assertEquals("first", proxy.get("/a").text());
        ProxyExtension.await("the host is up", () -> health().state() == OriginHealth.State.UP);
    }
}
