package io.millrace.proxy.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class FaultLogTest {
    private static final long QUIET_NANOS = 1_000;

    private final RecordingLogger logger = new RecordingLogger();
    private final AtomicLong clock = new AtomicLong();
    private final FaultLog faults = new FaultLog(logger, QUIET_NANOS, clock::get);

    @Test
    void logsTheFirstFaultWithItsStackTrace() {
        IOException cause = new IOException("no space");

        faults.report("the disk failed", "/var/log/x", cause);

        assertEquals(List.of("WARN the disk failed: /var/log/x"), logger.lines());
        assertEquals(List.of(cause), logger.causes());
    }

    @Test
    void staysQuietAboutRepetitionsWithinThePeriodButCountsThem() {
        for (int i = 0; i < 100; i++) {
            faults.report("the disk failed", new IOException("no space"));
        }

        assertEquals(1, logger.lines().size());
        assertEquals(100, faults.total());
    }

    @Test
    void saysHowOftenItHappenedAfterThePeriod() {
        faults.report("the disk failed", new IOException("no space"));
        faults.report("the disk failed", new IOException("no space"));
        clock.set(QUIET_NANOS);
        faults.report("the disk failed", new IOException("still none"));
        faults.report("the disk failed", new IOException("still none"));

        assertEquals(
                "WARN the disk failed (2 times since it was last logged): java.io.IOException: still none",
                logger.lines().get(1));
        assertEquals(2, logger.lines().size());
        assertEquals(1, logger.causes().size());
    }

    @Test
    void asksForTheDetailOnlyWhenALineIsDue() {
        AtomicLong asked = new AtomicLong();
        for (int i = 0; i < 100; i++) {
            faults.reportFrequent("refused", () -> "number " + asked.incrementAndGet());
        }
        clock.set(QUIET_NANOS);
        faults.reportFrequent("refused", () -> "number " + asked.incrementAndGet());

        assertEquals(2, asked.get());
        assertEquals(
                List.of("WARN refused: number 1", "WARN refused: number 2 (100 times since it was last logged)"),
                logger.lines());
    }

    @Test
    void logsEachKindByItself() {
        faults.report("the disk failed", null, null);
        faults.report("the network failed", null, null);

        assertEquals(List.of("WARN the disk failed", "WARN the network failed"), logger.lines());
    }

    @Test
    void remembersABoundedNumberOfKinds() {
        for (int i = 0; i < 10 * FaultLog.MAX_KINDS; i++) {
            faults.report("kind " + i, null, null);
        }

        assertTrue(
                logger.lines().size() <= FaultLog.MAX_KINDS + 1,
                "lines: " + logger.lines().size());
        assertEquals(10 * FaultLog.MAX_KINDS, faults.total());
    }
}
