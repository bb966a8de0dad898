package io.millrace.proxy.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests a client that accepts only the bytes that a test permits, with a clock that the test sets. */
class SendWatchTest {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final SendWatch watch = new SendWatch();
    private long now = 500 * SECOND;

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    private void write(int bytes) {
        channel.write(Unpooled.buffer(bytes).writeZero(bytes));
        watch.wrote(bytes);
    }

    /** The client accepts all written bytes, and more are written at once. */
    private void takesAndWaitsFor(int more) {
        channel.flush();
        channel.releaseOutbound();
        write(more);
    }

    private boolean lookAfter(long seconds) {
        now += seconds * SECOND;
        return watch.sample(channel, now);
    }

    @Test
    void clientWithNothingToTakeIsNeverSlow() {
        for (int i = 0; i < 100; i++) {
            assertFalse(lookAfter(10));
            assertFalse(watch.isStuck(channel, now, 30 * SECOND));
            assertFalse(watch.isBelow(channel, 1024, now));
            assertEquals(0, watch.unsentNanos(now));
        }
    }

    @Test
    void clientThatTakesNothingIsStuckAfterTheTimeout() {
        write(1000);
        assertTrue(lookAfter(0));
        assertTrue(lookAfter(30));
        assertFalse(watch.isStuck(channel, now, 30 * SECOND));
        assertTrue(lookAfter(1));
        assertTrue(watch.isStuck(channel, now, 30 * SECOND));
        assertEquals(31 * SECOND, watch.silentNanos(channel, now));
        takesAndWaitsFor(900);
        assertTrue(lookAfter(1));
        assertFalse(watch.isStuck(channel, now, 30 * SECOND));
        assertEquals(0, watch.silentNanos(channel, now));
    }

    @Test
    void rateIsTakenOverHalfAMinute() {
        write(100);
        lookAfter(0);
        for (int i = 0; i < 29; i++) {
            takesAndWaitsFor(100 + i);
            lookAfter(1);
            assertFalse(watch.isBelow(channel, 1024, now), "too early to say");
        }
        takesAndWaitsFor(99);
        lookAfter(1);
        assertTrue(watch.isBelow(channel, 1024, now), "some 100 bytes a second");
        assertFalse(watch.isBelow(channel, 50, now));
        assertFalse(watch.isBelow(channel, 0, now), "no limit");
        assertTrue(Math.abs(watch.bytesPerSecond(now) - 115) < 20, () -> watch.bytesPerSecond(now) + " B/s");
    }

    @Test
    void windowOfTheRateMovesOn() {
        write(1000);
        lookAfter(0);
        for (int i = 0; i < 60; i++) {
            takesAndWaitsFor(100_000 + i);
            lookAfter(1);
            assertFalse(watch.isBelow(channel, 1024, now));
        }
        for (int i = 0; i < 61; i++) {
            takesAndWaitsFor(1 + i % 2);
            lookAfter(1);
            watch.isBelow(channel, 1024, now);
        }
        assertTrue(watch.isBelow(channel, 1024, now), "what it took two minutes ago counts no more");
    }

    @Test
    void pauseWithNothingToTakeBeginsAnew() {
        write(1000);
        lookAfter(0);
        lookAfter(29);
        channel.flush();
        channel.releaseOutbound();
        assertFalse(lookAfter(1));
        write(10);
        assertTrue(lookAfter(1));
        assertEquals(0, watch.unsentNanos(now));
        assertFalse(watch.isBelow(channel, 1024, now));
    }
}
