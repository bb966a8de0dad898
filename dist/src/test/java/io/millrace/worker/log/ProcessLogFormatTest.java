package io.millrace.worker.log;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Instant;
import java.time.ZoneId;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the lines of the program log. */
class ProcessLogFormatTest {
    private static final String FAULT = Fault.class.getName();
    private static final String HEAD = "2026-02-03 05:05:06.007 ERROR 42 Store: ";

    private final ProcessLogFormat plain = new ProcessLogFormat(false, 42, ZoneId.of("Europe/Berlin"));
    private final ProcessLogFormat journal = new ProcessLogFormat(true, 42, ZoneId.of("Europe/Berlin"));

    /** A throwable with a trace that does not depend on this test. */
    private static final class Fault extends Exception {
        private static final long serialVersionUID = 1;

        Fault() {
            super("disk\nfull", null, false, true);
            setStackTrace(new StackTraceElement[] {new StackTraceElement("a.B", "c", "B.java", 7)});
        }
    }

    private static LogRecord record(@Nullable String logger, Level level, String message) {
        LogRecord record = new LogRecord(level, message);
        record.setLoggerName(logger);
        record.setInstant(Instant.parse("2026-02-03T04:05:06.007999Z"));
        return record;
    }

    @ParameterizedTest
    @CsvSource({
        "SEVERE, 'ERROR', <3>",
        "WARNING, 'WARN ', <4>",
        "INFO, 'INFO ', <6>",
        "CONFIG, 'DEBUG', <7>",
        "FINE, 'DEBUG', <7>",
        "FINER, 'TRACE', <7>",
        "FINEST, 'TRACE', <7>"
    })
    void aLevelHasANameAndAPriority(String level, String name, String priority) {
        LogRecord record = record("io.millrace.Store", Level.parse(level), "ready");
        assertEquals("2026-02-03 05:05:06.007 " + name + " 42 Store: ready\n", plain.format(record));
        assertEquals(priority + "Store: ready\n", journal.format(record));
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "null",
            value = {
                "io.millrace.Store, Store",
                "io.millrace.Store$Part, Store$Part",
                "Store, Store",
                "io.millrace.extension.hello, hello",
                "'', ''",
                "null, ''"
            })
    void theLastPartOfTheLoggerIsNamed(@Nullable String logger, String name) {
        assertEquals("<6>" + name + ": ready\n", journal.format(record(logger, Level.INFO, "ready")));
    }

    /** sd-daemon(3) reads line by line: a line without a priority would have that of the unit. */
    @Test
    void everyLineForTheJournalHasThePriority() {
        LogRecord record = record("io.millrace.Store", Level.SEVERE, "failed:\nsee below");
        assertEquals(HEAD + "failed:\nsee below\n", plain.format(record));
        assertEquals("<3>Store: failed:\n<3>see below\n", journal.format(record));

        record.setThrown(new Fault());
        assertEquals(
                HEAD + "failed:\nsee below\n" + FAULT + ": disk\nfull\n\tat a.B.c(B.java:7)\n", plain.format(record));
        assertEquals(
                "<3>Store: failed:\n<3>see below\n<3>" + FAULT + ": disk\n<3>full\n<3>\tat a.B.c(B.java:7)\n",
                journal.format(record));
    }

    /** The JDK and libraries that use java.util.logging directly have parameters; SLF4J has replaced its own before. */
    @Test
    void parametersOfJavaUtilLoggingAreInserted() {
        LogRecord record = record("jdk.Http", Level.INFO, "{0} of {1}");
        record.setParameters(new Object[] {"one", 2});
        assertEquals("<6>Http: one of 2\n", journal.format(record));
        assertEquals("<6>Http: {} of {1}\n", journal.format(record("jdk.Http", Level.INFO, "{} of {1}")));
    }
}
