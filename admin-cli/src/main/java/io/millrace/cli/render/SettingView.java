package io.millrace.cli.render;

import io.millrace.cli.client.JsonObject;
import java.util.ArrayList;
import java.util.List;

/** Formats the response of {@code GET /v1/config} as text. Stateless. */
public final class SettingView {
    private static final int LABEL_WIDTH = 11;

    private SettingView() {}

    /**
     * Returns a line {@code key: value} for each setting. Keys of list elements, such as {@code storage[].size}, have
     * no line.
     */
    public static List<String> values(JsonObject report) {
        List<String> lines = new ArrayList<>();
        for (JsonObject setting : report.objects("settings")) {
            String key = Printable.of(setting.text("key", "?"));
            if (key.indexOf('[') < 0) {
                lines.add(key + ": " + value(setting));
            }
        }
        return lines;
    }

    /**
     * Returns a message for each value that contains environment variables. The user cannot see such a value in the
     * file.
     */
    public static List<String> notes(JsonObject report) {
        List<String> notes = new ArrayList<>();
        for (JsonObject setting : report.objects("settings")) {
            String variables = variables(setting);
            if (!variables.isEmpty()) {
                notes.add(Printable.of(setting.text("key", "?")) + " is from " + Printable.of(setting.text("place", ""))
                        + variables);
            }
        }
        return notes;
    }

    /**
     * Returns text to append to the position of a value, such as {@code  with ${PORT}}; empty if the value has no
     * variables.
     */
    static String variables(JsonObject setting) {
        StringBuilder variables = new StringBuilder();
        for (String name : setting.texts("variables")) {
            variables
                    .append(variables.length() == 0 ? " with ${" : ", ${")
                    .append(Printable.of(name))
                    .append('}');
        }
        return variables.toString();
    }

    private static String value(JsonObject setting) {
        String value = setting.text("value");
        if (value != null) {
            return Printable.of(value);
        }
        String words = setting.text("default");
        return words == null ? "not set" : Printable.of(words);
    }

    /** Returns a paragraph for each key, with meaning, value, default, type and bounds. */
    public static List<String> descriptions(JsonObject report, Paint paint) {
        List<String> lines = new ArrayList<>();
        for (JsonObject setting : report.objects("settings")) {
            if (!lines.isEmpty()) {
                lines.add("");
            }
            describe(setting, paint, lines);
        }
        return lines;
    }

    private static void describe(JsonObject setting, Paint paint, List<String> lines) {
        String key = Printable.of(setting.text("key", "?"));
        lines.add(paint.strong(key));
        lines.add("  " + Printable.of(setting.text("sentence", "")));
        if (key.indexOf('[') < 0) {
            String place = Printable.of(setting.text("place", ""));
            add(
                    lines,
                    "value",
                    value(setting) + (place.isEmpty() ? ", the default" : ", from " + place + variables(setting)));
        }
        if (setting.has("under")) {
            String under = setting.text("under", "");
            add(lines, "under it", under.isEmpty() ? "nothing is set" : Printable.of(under));
        }
        if (setting.has("in_use")) {
            String inUse = setting.text("in_use", "");
            add(lines, "in use", (inUse.isEmpty() ? "nothing" : Printable.of(inUse)) + ", until the next relaunch");
        }
        String without = setting.isTrue("required") ? "none, it must be set" : "none";
        add(lines, "default", Printable.of(setting.text("default", without)));
        String takes = Printable.of(setting.text("takes", ""));
        add(lines, "type", Printable.of(setting.text("type", "?")) + (takes.isEmpty() ? "" : " (" + takes + ")"));
        if (setting.has("min")) {
            add(
                    lines,
                    "bounds",
                    (setting.isTrue("or_zero") ? "0, or " : "") + Printable.of(setting.text("min", "?")) + " to "
                            + Printable.of(setting.text("max", "?")));
        }
        add(lines, "change", Printable.of(setting.text("change", "?")));
        if (setting.isTrue("per_rule")) {
            add(lines, "per rule", "yes, also within an element of remap");
        }
        if (setting.has("traffic_server")) {
            add(lines, "in ATS", Printable.of(setting.text("traffic_server", "")));
        }
    }

    private static void add(List<String> lines, String label, String value) {
        lines.add("  " + label + " ".repeat(LABEL_WIDTH - label.length()) + value);
    }
}
