package io.millrace.proxy.observe;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.AbstractLogger;
import org.slf4j.helpers.MessageFormatter;

/** A logger that records its lines for a test. Thread-safe. */
public final class RecordingLogger extends AbstractLogger {
    private static final long serialVersionUID = 1L;

    private final transient List<String> lines = new CopyOnWriteArrayList<>();
    private final transient List<Throwable> causes = new CopyOnWriteArrayList<>();

    /** Returns the lines logged so far. */
    public List<String> lines() {
        return lines;
    }

    /** Returns the exceptions logged with a stack trace so far. */
    public List<Throwable> causes() {
        return causes;
    }

    @Override
    protected void handleNormalizedLoggingCall(
            Level level, Marker marker, String pattern, Object[] arguments, Throwable cause) {
        lines.add(level + " " + MessageFormatter.basicArrayFormat(pattern, arguments));
        if (cause != null) {
            causes.add(cause);
        }
    }

    @Override
    protected String getFullyQualifiedCallerName() {
        return RecordingLogger.class.getName();
    }

    @Override
    public boolean isTraceEnabled() {
        return true;
    }

    @Override
    public boolean isTraceEnabled(Marker marker) {
        return true;
    }

    @Override
    public boolean isDebugEnabled() {
        return true;
    }

    @Override
    public boolean isDebugEnabled(Marker marker) {
        return true;
    }

    @Override
    public boolean isInfoEnabled() {
        return true;
    }

    @Override
    public boolean isInfoEnabled(Marker marker) {
        return true;
    }

    @Override
    public boolean isWarnEnabled() {
        return true;
    }

    @Override
    public boolean isWarnEnabled(Marker marker) {
        return true;
    }

    @Override
    public boolean isErrorEnabled() {
        return true;
    }

    @Override
    public boolean isErrorEnabled(Marker marker) {
        return true;
    }
}
