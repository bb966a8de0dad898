package io.millrace.proxy.extension;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class CircuitBreakerTest {
    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5);
    private final CircuitBreaker breaker = new CircuitBreaker(nanos::get);

    private void fail(int times) {
        for (int i = 0; i < times; i++) {
            assertTrue(breaker.admits());
            assertEquals(i == CircuitBreaker.FAILURES_MAX - 1, breaker.failed());
        }
    }

    @Test
    void opensAfterFailuresInSuccessionOnly() {
        fail(CircuitBreaker.FAILURES_MAX - 1);
        assertFalse(breaker.succeeded());
        fail(CircuitBreaker.FAILURES_MAX - 1);
        assertFalse(breaker.isOpen());
        breaker.succeeded();
        fail(CircuitBreaker.FAILURES_MAX);
        assertTrue(breaker.isOpen());
        assertFalse(breaker.admits());
    }

    @Test
    void admitsOneTrialInEachPeriodAndClosesAfterASuccess() {
        fail(CircuitBreaker.FAILURES_MAX);
        nanos.addAndGet(CircuitBreaker.OPEN_NANOS - 1);
        assertFalse(breaker.admits());
        nanos.incrementAndGet();
        assertTrue(breaker.admits());
        assertFalse(breaker.admits());
        assertFalse(breaker.failed());
        nanos.addAndGet(CircuitBreaker.OPEN_NANOS);
        assertTrue(breaker.admits());
        assertTrue(breaker.succeeded());
        assertTrue(breaker.admits());
        assertTrue(breaker.admits());
        assertFalse(breaker.isOpen());
    }
}
