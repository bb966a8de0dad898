package io.millrace.proxy.observe.log.output;

import io.millrace.proxy.observe.log.target.JournaldConfig;
import io.millrace.proxy.observe.log.target.SyslogConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The destination of one access log, with its settings. Immutable. */
public sealed interface LogDestination {
    /** The kinds of destinations, as the configuration names them. */
    enum Kind {
        FILE,
        SYSLOG,
        JOURNALD,
        STDOUT,
        EXTENSION
    }

    /**
     * A file that the proxy rotates.
     *
     * @param path the file to append to; null if the configuration names no file: then the process that starts the
     *     proxy sets one
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

    /**
     * An extension, which gets records instead of lines.
     *
     * @param name the name of the extension
     */
    record ToExtension(String name) implements LogDestination {}

    /**
     * The value of the key {@code target}.
     *
     * @param extension the name of the extension; null for other kinds
     */
    record Target(Kind kind, @Nullable String extension) {
        /** The text before the name of an extension. */
        public static final String EXTENSION_PREFIX = "extension:";

        /** The target {@code file}. */
        public static final Target FILE = new Target(Kind.FILE, null);

        /** The words of all targets, for messages and the reference. */
        public static final String WORDS = "file, syslog, journald, stdout, extension:NAME";

        /** Returns the target that a text names; null if it names none. The name of an extension is not checked. */
        public static @Nullable Target of(String text) {
            if (text.startsWith(EXTENSION_PREFIX)) {
                return new Target(Kind.EXTENSION, text.substring(EXTENSION_PREFIX.length()));
            }
            for (Kind kind : Kind.values()) {
                if (kind != Kind.EXTENSION && kind.name().equalsIgnoreCase(text)) {
                    return new Target(kind, null);
                }
            }
            return null;
        }

        /** The text in the configuration. */
        @Override
        public String toString() {
            return extension == null ? kind.name().toLowerCase(Locale.ROOT) : EXTENSION_PREFIX + extension;
        }
    }
}
