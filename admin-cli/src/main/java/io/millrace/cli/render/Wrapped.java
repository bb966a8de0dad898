package io.millrace.cli.render;

import java.util.ArrayList;
import java.util.List;

/** Wraps text into lines of a given width, between words. */
final class Wrapped {
    private Wrapped() {}

    /** Returns the lines. A word longer than the width has a line of its own. */
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
