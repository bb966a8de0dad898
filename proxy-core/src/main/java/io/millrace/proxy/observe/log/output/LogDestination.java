package io.millrace.proxy.observe.log.output;

import io.millrace.proxy.observe.log.target.JournaldConfig;
import io.millrace.proxy.observe.log.target.SyslogConfig;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The destination of one access log, with its settings. Immutable. */
public sealed interface LogDestination {
    /** The kinds of destinations, as the configuration names them. */
    enum Kind {
        FILE,
        SYSLOG,
        JOURNALD,
        STDOUT
    }

    /**
     * A file that the proxy rotates.
     *
     * @param path the file to append to; null if the configuration has none, so that the starting process sets one
     * @param rotateBytes file size in bytes that causes a rotation; 0 for never
     * @param rotateInterval interval between rotations; zero for never
     * @param rotateKeep number of rotated files to keep; 0 keeps all
     */
    record ToFile(@Nullable Path path, long rotateBytes, Duration rotateInterval, int rotateKeep)
            implements LogDestination {}

    /** A syslog receiver. */
    record ToSyslog(SyslogConfig config) implements LogDestination {}

    /** Journald on this machine. */
    record ToJournald(JournaldConfig config) implements LogDestination {}

    /** The standard output of the process. */
    record ToStandardOutput() implements LogDestination {}
}
