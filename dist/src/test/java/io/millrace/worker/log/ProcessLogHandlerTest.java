package io.millrace.worker.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.Test;

/** Tests that a record is one write. */
class ProcessLogHandlerTest {
    private static final Map<String, String> JOURNAL = Map.of("JOURNAL_STREAM", "8:1");

    private final List<String> written = new ArrayList<>();

    /** Records each write. */
    private final PrintStream out = new PrintStream(
            new OutputStream() {
                @Override
                public void write(int one) {
                    throw new AssertionError("a single byte");
                }

                @Override
                public void write(byte[] bytes, int offset, int length) {
                    written.add(new String(bytes, offset, length, StandardCharsets.UTF_8));
                }
            },
            false,
            StandardCharsets.US_ASCII);

    private static LogRecord record(Level level, String message) {
        LogRecord record = new LogRecord(level, message);
        record.setLoggerName("io.millrace.Store");
        return record;
    }

    @Test
    void aRecordIsOneWriteInUtf8() {
        ProcessLogHandler handler = new ProcessLogHandler(out, JOURNAL);
        handler.publish(record(Level.INFO, "größer"));
        LogRecord failed = record(Level.WARNING, "failed");
        failed.setThrown(new IllegalStateException("x".repeat(20_000)));
        handler.publish(failed);
        assertEquals(2, written.size());
        assertEquals("<6>Store: größer\n", written.get(0));
        assertTrue(
                written.get(1).startsWith("<4>Store: failed\n<4>java.lang.IllegalStateException: xxx"), written.get(1));
    }

    @Test
    void withoutTheJournalALineHasTimeAndProcess() {
        new ProcessLogHandler(out, Map.of()).publish(record(Level.INFO, "ready"));
        String pattern = "\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d\\.\\d{3} INFO  "
                + ProcessHandle.current().pid() + " Store: ready\n";
        assertTrue(written.get(0).matches(pattern), written.get(0));
    }

    @Test
    void aClosedHandlerStillWrites() {
        ProcessLogHandler handler = new ProcessLogHandler(out, JOURNAL);
        handler.close();
        handler.publish(record(Level.INFO, "late"));
        assertEquals(List.of("<6>Store: late\n"), written);
    }

    @Test
    void itsOwnLevelApplies() {
        ProcessLogHandler handler = new ProcessLogHandler(out, JOURNAL);
        handler.setLevel(Level.WARNING);
        handler.publish(record(Level.INFO, "ready"));
        assertEquals(List.of(), written);
    }
}
