package io.millrace.cli.render;

import io.millrace.cli.client.JsonObject;
import java.util.ArrayList;
import java.util.List;

/** Formats the result of a reload or another change of the configuration as text. Stateless. */
public final class ReloadView {
    private static final int RESULT_WIDTH = 8;

    private ReloadView() {}

    /**
     * Returns a line for each changed setting, and then for each problem. A setting has outcome, key and explanation.
     */
    public static List<String> lines(JsonObject report, Paint paint) {
        List<JsonObject> settings = report.objects("settings");
        int keyWidth = 0;
        for (JsonObject setting : settings) {
            keyWidth = Math.max(keyWidth, setting.text("key", "?").length());
        }
        List<String> lines = new ArrayList<>();
        for (JsonObject setting : settings) {
            String result = Printable.of(setting.text("result", "?"));
            String key = Printable.of(setting.text("key", "?"));
            String detail = Printable.of(setting.text("detail", ""));
            String line = painted(result, paint) + padding(result, RESULT_WIDTH) + "  " + key;
            lines.add(detail.isEmpty() ? line : line + padding(key, keyWidth) + "  " + detail);
        }
        lines.addAll(ProblemLines.of(report));
        return lines;
    }

    private static String padding(String text, int width) {
        return " ".repeat(Math.max(0, width - text.length()));
    }

    private static String painted(String result, Paint paint) {
        return switch (result) {
            case "applied", "rolled" -> paint.good(result);
            case "relaunch" -> paint.doubtful(result);
            default -> paint.bad(result);
        };
    }

    /** Returns the number of settings with a result, such as {@code relaunch}. */
    public static int count(JsonObject report, String result) {
        int count = 0;
        for (JsonObject setting : report.objects("settings")) {
            if (setting.text("result", "").equals(result)) {
                count++;
            }
        }
        return count;
    }
}
