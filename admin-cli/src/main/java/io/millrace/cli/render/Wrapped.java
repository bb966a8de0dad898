package io.millrace.cli.render;

import java.util.ArrayList;
import java.util.List;

/** Wraps text between words. Stateless. */
final class Wrapped {
    private Wrapped() {}

    /**
     * Wraps a text. A word longer than the width has a separate line.
     *
     * @param width limit of columns, including the indent
     * @param indent text at the beginning of each line
     */
    static List<String> lines(String text, int width, String indent) {
        List<String> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder(indent);
        int start = 0;
        while (start < text.length()) {
            int end = text.indexOf(' ', start);
            end = end < 0 ? text.length() : end;
            if (line.length() > indent.length() && line.length() + 1 + end - start > width) {
                lines.add(line.toString());
                line.setLength(indent.length());
            }
            if (line.length() > indent.length()) {
                line.append(' ');
            }
            line.append(text, start, end);
            start = end + 1;
        }
        if (line.length() > indent.length()) {
            lines.add(line.toString());
        }
        return lines;
    }
}
