package io.millrace.cli.client;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * A parsed line of the output of {@code millrace check}. Immutable.
 *
 * @param file file name as printed; null if the line names no file
 * @param line from 1; 0 without a position
 * @param column from 1; 0 without a position
 * @param path the config key with the problem; empty if the line names no key
 * @param message description of the problem
 * @param suggestion the value that was probably meant, or null
 * @param text the whole line
 */
public record CheckLine(
        @Nullable String file,
        int line,
        int column,
        String path,
        String message,
        @Nullable String suggestion,
        String text) {
    private static final String SUGGESTION = " (did you mean ";

    /** Parses {@code file:line:column: path: problem (did you mean …?)}. Other text becomes the message. */
    public static CheckLine parse(String text) {
        String rest = text;
        String file = null;
        int line = 0;
        int column = 0;
        int colon = text.indexOf(": ");
        if (colon > 0) {
            String place = text.substring(0, colon);
            int beforeColumn = place.lastIndexOf(':');
            int beforeLine = beforeColumn <= 0 ? -1 : place.lastIndexOf(':', beforeColumn - 1);
            line = beforeLine <= 0 ? 0 : number(place.substring(beforeLine + 1, beforeColumn));
            column = beforeLine <= 0 ? 0 : number(place.substring(beforeColumn + 1));
            boolean placed = line > 0 && column > 0;
            file = placed ? place.substring(0, beforeLine) : place;
            line = placed ? line : 0;
            column = placed ? column : 0;
            rest = text.substring(colon + 2);
        }
        String path = "";
        int pathEnd = rest.indexOf(": ");
        if (pathEnd > 0 && isKey(rest.substring(0, pathEnd))) {
            path = rest.substring(0, pathEnd);
            rest = rest.substring(pathEnd + 2);
        }
        String suggestion = null;
        int suggested = rest.lastIndexOf(SUGGESTION);
        if (suggested > 0 && rest.endsWith("?)")) {
            suggestion = rest.substring(suggested + SUGGESTION.length(), rest.length() - 2);
            rest = rest.substring(0, suggested);
        }
        return new CheckLine(file, line, column, path, rest, suggestion, text);
    }

    private static int number(String digits) {
        try {
            return Integer.parseInt(digits);
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    private static boolean isKey(String text) {
        return text.indexOf(' ') < 0 && !text.equals("warning");
    }

    void write(JsonGenerator json) {
        json.writeStartObject();
        json.writeStringProperty("file", file);
        json.writeNumberProperty("line", line);
        json.writeNumberProperty("column", column);
        json.writeStringProperty("path", path);
        json.writeStringProperty("message", message);
        json.writeStringProperty("suggestion", suggestion);
        json.writeStringProperty("text", text);
        json.writeEndObject();
    }
}
