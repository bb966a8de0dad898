package io.millrace.proxy.admin.access;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The number of events in any time, and the time until the next one. */
class RateLimitTest {
    @ParameterizedTest
    @ValueSource(longs = {0, Long.MAX_VALUE - 1000, Long.MIN_VALUE})
    void allowsOneMinuteAtOnceAndRefillsEvenly(long start) {
        AtomicLong now = new AtomicLong(start);
        RateLimit limit = RateLimit.perMinute(6, now::get);
        assertEquals(6, allowed(limit));
        assertEquals(10, limit.count());
        now.addAndGet(TimeUnit.SECONDS.toNanos(4));
        assertEquals(6, limit.count());
        now.addAndGet(TimeUnit.MILLISECONDS.toNanos(5_999));
        assertEquals(1, limit.count());
        now.addAndGet(TimeUnit.MILLISECONDS.toNanos(1));
        assertEquals(1, allowed(limit));
        now.addAndGet(TimeUnit.SECONDS.toNanos(25));
        assertEquals(2, allowed(limit));
        now.addAndGet(TimeUnit.DAYS.toNanos(100));
        assertEquals(6, allowed(limit));
    }

    @Test
    void eventsAboveTheLimitLengthenTheWait() {
        AtomicLong now = new AtomicLong(-5);
        RateLimit limit = new RateLimit(2, Duration.ofSeconds(12), now::get);
        for (int i = 0; i < 2; i++) {
            assertEquals(0, limit.secondsToWait());
            assertEquals(0, limit.secondsToWait());
            limit.countAlways();
        }
        assertEquals(12, limit.secondsToWait());
        limit.countAlways();
        assertEquals(24, limit.secondsToWait());
        assertEquals(24, limit.count());
        now.addAndGet(Duration.ofSeconds(24).toNanos());
        assertEquals(0, limit.count());
    }

    private static int allowed(RateLimit limit) {
        int count = 0;
        while (limit.count() == 0) {
            count++;
        }
        return count;
    }
}
