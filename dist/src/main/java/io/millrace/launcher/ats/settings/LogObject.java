package io.millrace.launcher.ats.settings;

import io.millrace.launcher.importing.source.Entry;
import java.util.List;
import java.util.Map;

/**
 * A log object of the imported files. Immutable.
 *
 * @param entry the source lines
 * @param format name of its format; empty for the default
 * @param filename file without directory; empty for the default
 * @param mode {@code ascii}, {@code binary}, {@code ascii_pipe} and so on; empty for the default
 * @param rolling its fields, such as {@code rolling_size_mb}
 * @param filters names of its filters
 */
record LogObject(
        Entry entry, String format, String filename, String mode, Map<String, String> rolling, List<String> filters) {
    /** Returns true if another program reads the lines from a pipe. */
    boolean isPipe() {
        return mode.contains("pipe");
    }
}
