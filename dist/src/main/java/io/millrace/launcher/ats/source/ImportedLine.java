package io.millrace.launcher.ats.source;

import java.util.List;

/**
 * A line of the input and the outcome of its import. Immutable.
 *
 * @param file its name below the directory
 * @param line where it begins, from 1
 * @param column where it begins, from 1
 * @param text what it says, on one line
 * @param keys what it became, such as {@code remap[2]} or {@code cache.required_headers}
 * @param note why, and what to do instead; may be empty
 */
public record ImportedLine(
        String file, int line, int column, String text, Outcome outcome, List<String> keys, String note) {
    /** Where it is: {@code remap.config:12}. */
    public String place() {
        return file + ":" + line;
    }
}
