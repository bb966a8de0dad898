package io.millrace.proxy.observe.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.RecordingLogger;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Tests a disk that accepts a part of a batch and then fails: no line is torn, repeated or uncounted. */
class TornWriteTest {
    private static final String LINE = "0.000 0 - NONE/000 0 - http://h/ - NONE/- -\n";

    private final TearingTarget target = new TearingTarget();
    private final AtomicLong clock = new AtomicLong();
    private final RecordingLogger logger = new RecordingLogger();
    private final AccessLogWriter writer = new AccessLogWriter(
            AccessLogConfig.toFile(Path.of("unused"), AccessLogFormat.SQUID),
            target,
            new FaultLog(logger, Long.MAX_VALUE, () -> 0),
            clock::get);

    @Test
    void theRestOfATornLineFollowsInTheSameFile() {
        offer(3);
        target.room = LINE.length() + 10;
        assertFalse(writer.writeOnce());
        target.room = Integer.MAX_VALUE;
        assertFalse(writer.writeOnce(), "must not hammer a failing disk");
        clock.set(AccessLogWriter.RETRY_MILLIS);
        assertTrue(writer.writeOnce());

        assertEquals(LINE.repeat(3), target.content.toString());
        assertEquals(3, writer.written());
    }

    @Test
    void aTornLineBeginsAnewInANewFile() {
        offer(3);
        target.room = LINE.length() + 10;
        assertFalse(writer.writeOnce());
        target.room = Integer.MAX_VALUE;
        target.content.setLength(0);
        writer.requestReopen();
        assertTrue(writer.writeOnce());

        assertEquals(LINE.repeat(2), target.content.toString());
        assertEquals(3, writer.written());
    }

    @Test
    void incompleteLinesAtTheEndAreDropped() {
        offer(5);
        target.room = 2 * LINE.length() + 10;
        writer.finish();

        assertEquals(2, writer.written());
        assertEquals(3, writer.dropped());
        assertEquals(5, writer.offered());
        assertEquals(1, logger.lines().size());
    }

    private void offer(int count) {
        AccessLogRing ring = writer.newRing();
        for (int i = 0; i < count; i++) {
            ring.claim().text(LogField.URL, "http://h/");
            ring.publish();
        }
    }

    /** Accepts as many bytes as it has space for, then fails. */
    private static final class TearingTarget implements LogTarget {
        final StringBuilder content = new StringBuilder();
        int room;

        @Override
        public String description() {
            return "a tearing disk";
        }

        @Override
        public void maintain(long nowMillis) {
            // always open
        }

        @Override
        public boolean isAtStart() {
            return content.isEmpty();
        }

        @Override
        public void write(ByteBuffer lines) throws IOException {
            if (room == 0) {
                throw new IOException("full");
            }
            while (lines.hasRemaining() && room > 0) {
                content.append((char) lines.get());
                room--;
            }
        }

        @Override
        public void close() {
            // nothing is open
        }
    }
}
