package io.millrace.proxy.overload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests the begin and end of overload; the test sets the time and the use of processors. */
class OverloadTest {
    private static final int PROCESSORS = 4;

    private final Overload overload = new Overload();
    private long nowNanos = TimeUnit.HOURS.toNanos(1);
    private long cpuNanos;

    /** Returns a rule without limits, and one with limits. */
    private static ProxyConfig config(String... settings) {
        ProxyConfig.Builder builder =
                ProxyConfig.builder().listen(":0").map("http://plain.test/", "http://127.0.0.1:1/");
        for (int i = 0; i < settings.length; i += 2) {
            builder.set(settings[i], settings[i + 1]);
        }
        return builder.build();
    }

    private OverloadGauge gauge(String... settings) {
        overload.apply(config(settings).remap());
        OverloadGauge gauge = overload.of(0);
        assertNotNull(gauge);
        return gauge;
    }

    private void second(double cpuShare) {
        nowNanos += TimeUnit.SECONDS.toNanos(1);
        cpuNanos += (long) (cpuShare * PROCESSORS * TimeUnit.SECONDS.toNanos(1));
        overload.evaluate(nowNanos, () -> cpuNanos, PROCESSORS);
    }

    private void second(OverloadGauge gauge, int answers, long millis, int failures) {
        for (int i = 0; i < answers; i++) {
            gauge.answered(TimeUnit.MILLISECONDS.toNanos(millis), i < failures);
        }
        second(0);
    }

    @Test
    void aRuleWithoutALimitHasNoGauge() {
        overload.apply(config("cache.overload.stretch", "3").remap());
        assertNull(overload.of(0));
        assertNull(overload.of(7));
    }

    @Test
    void twoSlowSecondsBeginItAndOneDoesNot() {
        OverloadGauge gauge = gauge("cache.overload.latency", "100ms");
        second(gauge, 3, 101, 0);
        assertFalse(gauge.isInOverload());
        second(gauge, 3, 99, 0);
        second(gauge, 3, 101, 0);
        assertFalse(gauge.isInOverload());
        second(gauge, 3, 101, 0);
        assertTrue(gauge.isInOverload());
        assertEquals(1, overload.count());
    }

    @Test
    void itEndsAfterTheCalmTimeOfTheRule() {
        OverloadGauge gauge = gauge("cache.overload.latency", "100ms", "cache.overload.hold", "5s");
        second(gauge, 3, 200, 0);
        second(gauge, 3, 200, 0);
        second(gauge, 3, 10, 0);
        second(gauge, 3, 10, 0);
        // Below the limit, but not below four fifths of it.
        second(gauge, 3, 90, 0);
        for (int i = 0; i < 4; i++) {
            second(gauge, 0, 0, 0);
            assertTrue(gauge.isInOverload());
        }
        second(gauge, 0, 0, 0);
        assertFalse(gauge.isInOverload());
        assertEquals(0, overload.count());
    }

    @Test
    void tooFewAnswersTellNothing() {
        OverloadGauge gauge = gauge("cache.overload.latency", "100ms", "cache.overload.errors", "10%");
        for (int i = 0; i < 10; i++) {
            second(gauge, OverloadGauge.ANSWERS_MIN - 1, 10_000, 2);
        }
        assertFalse(gauge.isInOverload());
    }

    @Test
    void errorsBeginIt() {
        OverloadGauge gauge = gauge("cache.overload.errors", "20%");
        second(gauge, 10, 1, 2);
        second(gauge, 10, 1, 2);
        assertFalse(gauge.isInOverload());
        second(gauge, 10, 1, 3);
        second(gauge, 10, 1, 3);
        assertTrue(gauge.isInOverload());
    }

    @Test
    void theProcessorsUseBeginsIt() {
        OverloadGauge gauge = gauge("cache.overload.cpu", "80%");
        second(1);
        // The first window has no begin.
        second(0.81);
        assertFalse(gauge.isInOverload());
        second(0.81);
        assertTrue(gauge.isInOverload());
    }

    @Test
    void clientsThatLeaveAfterTheLimitCountAndEarlierOnesDoNot() {
        OverloadGauge gauge = gauge("cache.overload.latency", "100ms");
        for (int second = 0; second < 2; second++) {
            for (int i = 0; i < 3; i++) {
                gauge.cancelled(TimeUnit.MILLISECONDS.toNanos(90));
                gauge.answered(TimeUnit.MILLISECONDS.toNanos(1), false);
            }
            second(0);
        }
        assertFalse(gauge.isInOverload());
        for (int second = 0; second < 2; second++) {
            for (int i = 0; i < 3; i++) {
                gauge.cancelled(TimeUnit.MILLISECONDS.toNanos(101));
            }
            second(0);
        }
        assertTrue(gauge.isInOverload());
    }

    @Test
    void aReloadKeepsTheStateOfARemainingRuleAndAppliesItsNewLimits() {
        OverloadGauge gauge = gauge("cache.overload.latency", "100ms");
        second(gauge, 3, 200, 0);
        second(gauge, 3, 200, 0);
        ProxyConfig moved = ProxyConfig.builder()
                .listen(":0")
                .map("http://new.test/", "http://127.0.0.1:1/")
                .map("http://plain.test/", "http://127.0.0.1:2/")
                .set("cache.overload.latency", "300ms")
                .build();
        overload.apply(moved.remap());
        assertSame(gauge, overload.of(1));
        assertNotSame(gauge, overload.of(0));
        assertTrue(gauge.isInOverload());
        assertEquals(TimeUnit.MILLISECONDS.toNanos(300), gauge.config().latencyNanos());
    }

    @Test
    void whereNoRuleHasALimitTheProcessorsAreNotLookedAt() {
        overload.apply(config().remap());
        overload.evaluate(
                nowNanos,
                () -> {
                    throw new AssertionError("asked");
                },
                PROCESSORS);
        assertEquals(0, overload.count());
    }

    /** The share since the previous check would cover a long time. */
    @Test
    void theFirstWindowAfterRestoredLimitsHasNoProcessorResult() {
        overload.apply(config("cache.overload.cpu", "50%").remap());
        second(0.1);
        overload.apply(config().remap());
        second(0.9);
        OverloadGauge gauge = gauge("cache.overload.cpu", "50%");
        second(0.9);
        second(0.9);
        assertFalse(gauge.isInOverload());
        second(0.9);
        assertTrue(gauge.isInOverload());
    }

    /** Forwarded requests have the index after all rules, and another rule may have that index after a reload. */
    @Test
    void aRequestOfAConfigurationBeforeCountsForNoOtherRule() {
        ProxyConfig before = config("cache.overload.errors", "50%");
        overload.apply(before.remap());
        assertNotNull(overload.of(before.remap().get(0)));
        ProxyConfig more = ProxyConfig.builder()
                .listen(":0")
                .map("http://new.test/", "http://127.0.0.1:1/")
                .map("/", "http://127.0.0.1:1/")
                .set("cache.overload.errors", "50%")
                .build();
        overload.apply(more.remap());
        assertNull(overload.of(before.remap().get(0)));
        assertNull(overload.of(before.forwardRule()));
        assertNotNull(overload.of(more.remap().get(1)));
    }
}
