package io.millrace.cli.render;

import java.util.ArrayList;
import java.util.List;

/** Lines of {@code label  value} under a headline, the values in one column. Confined to one thread. */
final class Rows {
    private static final int LABEL_WIDTH = 13;

    private final List<String> lines = new ArrayList<>();

    Rows(String headline) {
        lines.add(headline);
    }

    /** A line; the value may hold colours but nothing from outside that is not {@link Printable}. */
    void add(String label, String value) {
        lines.add("  " + label + " ".repeat(Math.max(1, LABEL_WIDTH - label.length())) + value);
    }

    /** A line that goes on with the value of the one above. */
    void more(String value) {
        add("", value);
    }

    List<String> lines() {
        return lines;
    }
}
