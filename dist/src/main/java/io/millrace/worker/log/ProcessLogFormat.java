package io.millrace.worker.log;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.logging.Formatter;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.jspecify.annotations.Nullable;

/**
 * The format of the program log, with the level names of SLF4J. A line begins with its time, level and process id. For
 * the systemd journal every line, also of a stack trace, begins with its priority instead, as sd-daemon(3) describes;
 * the journal adds time and process. Immutable.
 */
final class ProcessLogFormat extends Formatter {
    private final boolean journal;
    private final long pid;
    private final ZoneId zone;

    /** @param zone time zone of the times */
    ProcessLogFormat(boolean journal, long pid, ZoneId zone) {
        this.journal = journal;
        this.pid = pid;
        this.zone = zone;
    }

    @Override
    public String format(LogRecord record) {
        int level = record.getLevel().intValue();
        StringBuilder text = new StringBuilder(160);
        if (!journal) {
            appendTime(text, LocalDateTime.ofInstant(record.getInstant(), zone));
            text.append(' ').append(paddedName(level)).append(' ').append(pid).append(' ');
        }
        text.append(simpleName(record.getLoggerName())).append(": ");
        text.append(formatMessage(record)).append('\n');
        if (record.getThrown() != null) {
            StringWriter trace = new StringWriter();
            record.getThrown().printStackTrace(new PrintWriter(trace));
            text.append(trace.getBuffer());
        }
        return journal ? withPriority(text, priority(level)) : text.toString();
    }

    /** Inserts the priority before each line. The text ends with a line feed. */
    private static String withPriority(StringBuilder text, String priority) {
        StringBuilder lines = new StringBuilder(text.length() + 64);
        int start = 0;
        while (start < text.length()) {
            int next = text.indexOf("\n", start) + 1;
            lines.append(priority).append(text, start, next);
            start = next;
        }
        return lines.toString();
    }

    /** Appends {@code yyyy-MM-dd HH:mm:ss.SSS}. A DateTimeFormatter would load 50 classes that nothing else needs. */
    private static void appendTime(StringBuilder text, LocalDateTime time) {
        appendNumber(text, time.getYear(), 4);
        appendNumber(text.append('-'), time.getMonthValue(), 2);
        appendNumber(text.append('-'), time.getDayOfMonth(), 2);
        appendNumber(text.append(' '), time.getHour(), 2);
        appendNumber(text.append(':'), time.getMinute(), 2);
        appendNumber(text.append(':'), time.getSecond(), 2);
        appendNumber(text.append('.'), time.getNano() / 1_000_000, 3);
    }

    private static void appendNumber(StringBuilder text, int number, int width) {
        String digits = Integer.toString(number);
        for (int i = digits.length(); i < width; i++) {
            text.append('0');
        }
        text.append(digits);
    }

    private static String simpleName(@Nullable String logger) {
        return logger == null ? "" : logger.substring(logger.lastIndexOf('.') + 1);
    }

    private static String paddedName(int level) {
        if (level >= Level.SEVERE.intValue()) {
            return "ERROR";
        }
        if (level >= Level.WARNING.intValue()) {
            return "WARN ";
        }
        if (level >= Level.INFO.intValue()) {
            return "INFO ";
        }
        return level >= Level.FINE.intValue() ? "DEBUG" : "TRACE";
    }

    private static String priority(int level) {
        if (level >= Level.SEVERE.intValue()) {
            return "<3>";
        }
        if (level >= Level.WARNING.intValue()) {
            return "<4>";
        }
        return level >= Level.INFO.intValue() ? "<6>" : "<7>";
    }
}
