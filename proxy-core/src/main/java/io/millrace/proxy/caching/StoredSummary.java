package io.millrace.proxy.caching;

import io.millrace.proxy.http.FieldName;
import io.millrace.store.HeadSummary;
import org.jspecify.annotations.Nullable;

/**
 * The part of a stored head that a cache listing shows. Written as three lines: status, Content-Type and variant; a
 * line is empty if the value is missing. Tags are stored separately.
 *
 * <p>Immutable.
 *
 * @param status the status code; 0 for a marker
 * @param type the Content-Type, or null
 * @param variant the request fields that select it, or null
 */
public record StoredSummary(
        int status, @Nullable String type, @Nullable String variant) {
    /** Limit of a Content-Type in characters; longer values are cut. */
    private static final int TYPE_LENGTH_MAX = 128;

    private static final int VARIANT_LENGTH_MAX = 512;

    /** Summarizes a stored head. */
    static HeadSummary of(StoredHead head) {
        String type = head.isVaryMarker() ? null : head.fields().get(FieldName.CONTENT_TYPE);
        String variant = head.isVaryMarker() ? "" : head.variance().describe(head.varyValues);
        String text = head.status() + "\n" + line(type, TYPE_LENGTH_MAX) + "\n" + line(variant, VARIANT_LENGTH_MAX);
        return new HeadSummary(
                head.responseTimeMillis() / 1000, text, head.tags().texts());
    }

    private static String line(@Nullable String text, int lengthMax) {
        if (text == null) {
            return "";
        }
        String cut = text.length() > lengthMax ? text.substring(0, lengthMax) : text;
        return cut.replace('\n', ' ');
    }

    /** Parses the text that {@link #of} wrote. */
    public static StoredSummary read(String text) {
        String[] lines = text.split("\n", -1);
        int status = 0;
        try {
            status = lines[0].isEmpty() ? 0 : Integer.parseInt(lines[0]);
        } catch (NumberFormatException e) {
            // Written by a later version: the status is shown as 0.
            status = 0;
        }
        return new StoredSummary(status, part(lines, 1), part(lines, 2));
    }

    private static @Nullable String part(String[] lines, int number) {
        return number >= lines.length || lines[number].isEmpty() ? null : lines[number];
    }
}
