package io.millrace.worker.log;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.ZoneId;
import java.util.Map;
import java.util.logging.ErrorManager;
import java.util.logging.Handler;
import java.util.logging.LogRecord;

/**
 * Writes the program log to standard error in UTF-8. Each record is one write, so that records of several threads do
 * not mix. Public for configuration files of operators, which name this class. Thread-safe.
 */
public final class ProcessLogHandler extends Handler {
    private final PrintStream out;

    /** A handler for standard error. The environment variables select the format. */
    public ProcessLogHandler() {
        this(System.err, System.getenv());
    }

    /** @param environment has JOURNAL_STREAM if the systemd journal reads standard error */
    ProcessLogHandler(PrintStream out, Map<String, String> environment) {
        this.out = out;
        boolean journal = environment.containsKey("JOURNAL_STREAM");
        setFormatter(new ProcessLogFormat(journal, ProcessHandle.current().pid(), ZoneId.systemDefault()));
    }

    @Override
    public void publish(LogRecord record) {
        if (!isLoggable(record)) {
            return;
        }
        byte[] text;
        try {
            text = getFormatter().format(record).getBytes(StandardCharsets.UTF_8);
        } catch (RuntimeException e) {
            reportError(null, e, ErrorManager.FORMAT_FAILURE);
            return;
        }
        out.write(text, 0, text.length);
        out.flush();
    }

    @Override
    public void flush() {
        out.flush();
    }

    /** Does nothing. Standard error stays open for messages of the shutdown. */
    @Override
    public void close() {}
}
