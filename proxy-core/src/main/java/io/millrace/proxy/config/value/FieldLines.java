package io.millrace.proxy.config.value;

import io.millrace.proxy.http.FieldLexer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Field lines of a setting, such as {@code X-Robots-Tag: noindex}. Immutable.
 *
 * @param lines the lines in their order; a name can occur several times
 */
public record FieldLines(List<Line> lines) {
    /**
     * One field line.
     *
     * @param name a token
     * @param value visible ASCII characters, spaces and tabs, without white space at both ends
     */
    public record Line(String name, String value) {}

    /** Limit of bytes in one value. */
    public static final int VALUE_MAX = 4096;

    /** Copies the list. */
    public FieldLines {
        lines = List.copyOf(lines);
    }

    /** Parses lines {@code Name: value}, separated by line ends. */
    public static FieldLines parse(String text) throws InvalidValueException {
        List<Line> lines = new ArrayList<>();
        for (String line : text.split("\n", -1)) {
            int colon = line.indexOf(':');
            if (colon < 0) {
                throw new InvalidValueException("'" + line + "' is not a field such as {X-Name: value}");
            }
            lines.add(line(line.substring(0, colon), line.substring(colon + 1)));
        }
        return new FieldLines(lines);
    }

    private static Line line(String name, String text) throws InvalidValueException {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        if (!FieldLexer.isToken(bytes, 0, bytes.length)) {
            throw new InvalidValueException("'" + name + "' is not a field name");
        }
        String value = text.strip();
        if (value.length() > VALUE_MAX) {
            throw new InvalidValueException(
                    name + ": the value has " + value.length() + " characters, limit=" + VALUE_MAX);
        }
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if ((c < ' ' && c != '\t') || c > '~') {
                throw new InvalidValueException(name + ": the value has the character U+"
                        + Integer.toHexString(0x10000 | c).substring(1).toUpperCase(java.util.Locale.ROOT)
                        + "; a value consists of visible ASCII characters, spaces and tabs");
            }
        }
        return new Line(name, value);
    }

    /** Returns the lines in the format of {@link #parse}. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (Line line : lines) {
            text.append(text.length() == 0 ? "" : "\n")
                    .append(line.name())
                    .append(": ")
                    .append(line.value());
        }
        return text.toString();
    }
}
