package io.millrace.launcher.importing.source;

import java.util.List;

/**
 * A line of the input and the outcome of its import. Immutable.
 *
 * @param file file name relative to the imported directory
 * @param line first line number, from 1
 * @param column first column, from 1
 * @param text text of the line, joined with its continuation lines
 * @param keys keys that the line writes or sets to the default, such as {@code remap[2]} or {@code
 *     cache.required_headers}
 * @param note reason for the outcome, and what to do instead; may be empty
 */
public record ImportedLine(
        String file, int line, int column, String text, Outcome outcome, List<String> keys, String note) {
    /** Position: {@code remap.config:12}. */
    public String place() {
        return file + ":" + line;
    }
}
