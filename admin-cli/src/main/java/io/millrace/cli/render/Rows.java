package io.millrace.cli.render;

import java.util.ArrayList;
import java.util.List;

/** Builds lines with a label and a value below a headline. The values form a column. Confined to one thread. */
public final class Rows {
    private static final int LABEL_WIDTH = 13;

    private final List<String> lines = new ArrayList<>();

    /** Begins with a headline, which may contain colours. */
    public Rows(String headline) {
        lines.add(headline);
    }

    /**
     * Adds a line.
     *
     * @param value may contain colours; received text in it must be escaped by {@link Printable}
     */
    public void add(String label, String value) {
        lines.add("  " + label + " ".repeat(Math.max(1, LABEL_WIDTH - label.length())) + value);
    }

    /** Adds a line that continues the value of the previous line. */
    void more(String value) {
        add("", value);
    }

    /** The lines so far. */
    public List<String> lines() {
        return lines;
    }
}
