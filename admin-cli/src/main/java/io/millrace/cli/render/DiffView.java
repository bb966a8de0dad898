package io.millrace.cli.render;

import io.millrace.cli.client.JsonObject;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Formats the response of {@code GET /v1/config/diff} as text. Stateless. */
public final class DiffView {
    /** Limit of characters of a value. Longer values, such as lists of rules, are cut. */
    private static final int VALUE_LENGTH_MAX = 100;

    private DiffView() {}

    /**
     * Returns a line for each setting that differs from its default, and then the changes that a reload would make. A
     * star marks a value that {@code config set} has set.
     */
    public static List<String> settings(JsonObject report, Paint paint) {
        List<String> lines = new ArrayList<>();
        List<JsonObject> differences = report.objects("differences");
        int width = width(differences);
        for (JsonObject difference : differences) {
            boolean overlay = difference.text("source", "").equals("overlay");
            String before = difference.text("before");
            lines.add((overlay ? paint.doubtful("*") : " ") + " " + padded(key(difference), width) + "  "
                    + value(difference.text("after"))
                    + (before == null ? "" : "  (default " + value(before) + ")") + "  "
                    + Printable.of(difference.text("place", "")) + SettingView.variables(difference));
        }
        if (lines.isEmpty()) {
            lines.add("all settings have their default values");
        }
        List<JsonObject> pending = report.objects("pending");
        if (!pending.isEmpty()) {
            lines.add("");
            lines.add("a reload would change");
            for (JsonObject change : pending) {
                lines.add("  " + line(change, width(pending)));
            }
        }
        return lines;
    }

    /** Returns a line for each difference between two configurations. */
    public static List<String> changes(JsonObject report) {
        List<String> lines = new ArrayList<>();
        List<JsonObject> differences = report.objects("differences");
        for (JsonObject difference : differences) {
            lines.add(line(difference, width(differences)));
        }
        return lines.isEmpty() ? List.of("no differences") : lines;
    }

    private static String line(JsonObject change, int width) {
        return padded(key(change), width) + "  " + value(change.text("before")) + " -> " + value(change.text("after"))
                + "  (" + Printable.of(change.text("change", "?")) + ")";
    }

    private static int width(List<JsonObject> differences) {
        int width = 0;
        for (JsonObject difference : differences) {
            width = Math.max(width, key(difference).length());
        }
        return width;
    }

    private static String key(JsonObject difference) {
        return Printable.of(difference.text("key", "?"));
    }

    private static String value(@Nullable String text) {
        String value = text == null ? "not set" : Printable.of(text);
        return value.length() <= VALUE_LENGTH_MAX ? value : value.substring(0, VALUE_LENGTH_MAX - 3) + "...";
    }

    private static String padded(String text, int width) {
        return text + " ".repeat(Math.max(0, width - text.length()));
    }
}
