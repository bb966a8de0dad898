package io.millrace.launcher.ats.settings;

import io.millrace.launcher.importing.source.Entry;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A log that the imported files describe. Immutable.
 *
 * @param entry the source lines
 * @param format name of the log's format; empty for the default
 * @param filename file without directory; empty for the default
 * @param mode {@code ascii}, {@code binary}, {@code ascii_pipe} and so on; empty for the default
 * @param rolling fields for rotation by name, such as {@code rolling_size_mb}
 * @param filters names of the log's filters
 */
record LogObject(
        Entry entry, String format, String filename, String mode, Map<String, String> rolling, List<String> filters) {
    /** Returns true if another program reads the lines from a pipe. */
    boolean isPipe() {
        return mode.contains("pipe");
    }

    /** Returns true if Traffic Server writes a binary log. Standard output and standard error get text. */
    boolean isBinary() {
        String lower = mode.toLowerCase(Locale.ROOT);
        return (lower.startsWith("bin") || lower.equals("b")) && !filename.equals("stdout");
    }

    /** Returns the file name, with the suffix that Traffic Server adds to a name without a dot. */
    String file() {
        String name = filename.isEmpty() ? "squid" : filename;
        return name.contains(".") ? name : name + (isBinary() ? ".blog" : ".log");
    }
}
