package io.millrace.proxy.fetch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests a deadline with a clock that the test sets. */
class DeadlineTest {

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private int reached;
    private final Deadline deadline = new Deadline(channel.eventLoop(), () -> reached++);

    @BeforeEach
    void stopTheClock() {
        channel.freezeTime();
    }

    @AfterEach
    void closeChannel() {
        channel.finishAndReleaseAll();
    }

    private void pass(long nanos) {
        channel.advanceTimeBy(nanos, TimeUnit.NANOSECONDS);
        channel.runScheduledPendingTasks();
    }

    @Test
    void isReachedOnceAndNotBefore() {
        deadline.set(100);
        pass(99);
        assertEquals(0, reached);
        assertEquals(1, deadline.remainingNanos());
        pass(1);
        assertEquals(1, reached);
        pass(1_000);
        assertEquals(1, reached);
    }

    @Test
    void movedLaterIsReachedLater() {
        deadline.set(100);
        pass(60);
        deadline.set(100);
        pass(99);
        assertEquals(0, reached);
        pass(1);
        assertEquals(1, reached);
    }

    @Test
    void movedEarlierIsReachedEarlierAndOnce() {
        deadline.set(100);
        deadline.set(10);
        pass(10);
        assertEquals(1, reached);
        pass(1_000);
        assertEquals(1, reached);
    }

    @Test
    void clearedOrCancelledIsNotReached() {
        deadline.set(100);
        deadline.clear();
        pass(1_000);
        deadline.set(100);
        deadline.cancel();
        pass(1_000);
        assertEquals(0, reached);
        assertTrue(deadline.remainingNanos() > Long.MAX_VALUE / 2);
    }

    @Test
    void clearedAndSetAgainIsReached() {
        deadline.set(100);
        deadline.clear();
        pass(50);
        deadline.set(100);
        pass(99);
        assertEquals(0, reached);
        pass(1);
        assertEquals(1, reached);
    }

    @Test
    void aVeryLongDeadlineIsNeverReached() {
        deadline.set(Long.MAX_VALUE);
        pass(TimeUnit.DAYS.toNanos(365));
        assertEquals(0, reached);
    }
}
