package io.millrace.proxy.observe.log.output;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.RecordingLogger;
import io.millrace.proxy.observe.log.AccessLogFormat;
import io.millrace.proxy.observe.log.AccessLogRecord;
import io.millrace.proxy.observe.log.AccessLogRing;
import io.millrace.proxy.observe.log.LineFormat;
import io.millrace.proxy.observe.log.LogField;
import io.millrace.proxy.observe.log.LogTarget;
import io.millrace.proxy.observe.log.target.LineHead;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Tests the queue of a log step by step, with a clock and a target that the test sets. */
class LogSenderTest {
    private final AtomicLong clock = new AtomicLong(1_000_000);
    private final RecordingLogger logger = new RecordingLogger();
    private final LogCounts counts = new LogCounts("errors");
    private final Target target = new Target();
    private final LineFormat format = AccessLogFormat.COMMON.lines(List.of());
    private final AccessLogRing ring = new AccessLogRing(1 << 20, List.of(), false);
    private final LogSender sender = new LogSender(
            "errors",
            target,
            format.maxLineBytes() + LineHead.MAX_BYTES,
            counts,
            new FaultLog(logger, Long.MAX_VALUE, () -> 0),
            clock::get);

    /** A target in memory that fails on request. */
    private static final class Target implements LogTarget {
        private final StringBuilder text = new StringBuilder();
        private boolean failing;
        private int opened;
        private int closed;

        @Override
        public String description() {
            return "tcp://logs.example:601";
        }

        @Override
        public void maintain(long nowMillis) throws IOException {
            opened++;
            if (failing) {
                throw new IOException("connection refused");
            }
        }

        @Override
        public boolean isAtStart() {
            return true;
        }

        @Override
        public void write(ByteBuffer lines) {
            text.append(StandardCharsets.ISO_8859_1.decode(lines));
        }

        @Override
        public void close() {
            closed++;
        }

        private long lines() {
            return text.chars().filter(c -> c == '\n').count();
        }
    }

    private void offer(int number) {
        AccessLogRecord record = ring.claim();
        record.status(200).text(LogField.URL, "http://a.example/" + number);
        ring.publish();
        ring.drain(logged -> {
            sender.append(logged, LineHead.NONE, format);
            return true;
        });
    }

    @Test
    void writesTheLinesOfTheQueueInOrder() {
        offer(1);
        offer(2);
        assertTrue(sender.sendOnce());
        assertFalse(sender.sendOnce());
        offer(3);
        sender.finish();
        assertEquals(3, target.lines());
        assertTrue(target.text.indexOf("/1") < target.text.indexOf("/2"));
        assertEquals(3, counts.written());
        assertEquals(0, counts.dropped());
    }

    @Test
    void keepsTheLinesWhileTheTargetFailsAndTriesAgainAfterDoubledTimes() {
        target.failing = true;
        offer(1);
        long expected = LogSender.RETRY_MILLIS;
        for (int attempt = 1; attempt <= 8; attempt++) {
            assertFalse(sender.sendOnce());
            assertEquals(attempt, counts.errors());
            clock.addAndGet(expected - 1);
            assertFalse(sender.sendOnce());
            assertEquals(attempt, counts.errors(), "tried again too early");
            clock.addAndGet(1);
            expected = Math.min(2 * expected, LogSender.RETRY_MILLIS_MAX);
        }
        assertTrue(counts.isFailing());
        target.failing = false;
        assertTrue(sender.sendOnce());
        assertFalse(counts.isFailing());
        assertEquals(1, target.lines());
        String line = logger.lines().get(0);
        assertTrue(
                line.contains("the access log errors cannot be written") && line.contains("tcp://logs.example:601"),
                line);
    }

    @Test
    void dropsAndCountsLinesWhenTheQueueIsFull() {
        target.failing = true;
        int offered = 0;
        while (counts.dropped() < 10) {
            offer(offered++);
            sender.sendOnce();
        }
        target.failing = false;
        clock.addAndGet(LogSender.RETRY_MILLIS_MAX);
        sender.finish();
        assertEquals(offered - 10, counts.written());
        assertEquals(offered - 10, target.lines());
        assertTrue(target.text.length() <= 2 * (LogSender.QUEUE_BYTES + sender.maxLineBytes()));
    }

    @Test
    void countsLinesThatCannotBeWrittenUntilTheEndAsDropped() {
        target.failing = true;
        offer(1);
        sender.sendOnce();
        offer(2);
        sender.finish();
        assertEquals(0, counts.written());
        assertEquals(2, counts.dropped());
    }

    @Test
    void aReopenClosesTheTargetAndEndsTheWait() {
        target.failing = true;
        offer(1);
        sender.sendOnce();
        target.failing = false;
        sender.requestReopen();
        assertTrue(sender.sendOnce());
        assertEquals(1, target.lines());
        assertEquals(2, target.closed);
        assertEquals(2, target.opened);
    }
}
