package io.millrace.cli.render.extension;

import io.millrace.cli.client.JsonObject;
import io.millrace.cli.render.Paint;
import io.millrace.cli.render.Printable;
import io.millrace.cli.render.Quantities;
import io.millrace.cli.render.Rows;
import java.util.ArrayList;
import java.util.List;

/** Formats the response of {@code GET /v1/extensions} as text. Stateless. */
public final class ExtensionView {
    private static final int HOOK_WIDTH = 18;
    private static final long NANOS_PER_MICRO = 1000;

    private ExtensionView() {}

    /** Returns lines for each extension, or a message if there are none. */
    public static List<String> lines(JsonObject report, Paint paint) {
        List<String> lines = new ArrayList<>();
        long now = report.number("now", 0);
        for (JsonObject extension : report.objects("extensions")) {
            boolean active = extension.text("state", "").equals("active");
            String state = active ? paint.good("active") : paint.bad("circuit open");
            String version = extension.text("version", "");
            Rows rows = new Rows(Printable.of(extension.text("name", "?"))
                    + (version.isEmpty() ? "" : " " + Printable.of(version)) + ", " + state);
            String jar = extension.text("jar", "");
            rows.add("code", Printable.of(jar.isEmpty() ? "the application" : jar));
            rows.add("class", Printable.of(extension.text("class", "?")));
            String note = extension.text("note", "");
            if (!note.isEmpty()) {
                rows.add("note", Printable.of(note));
            }
            for (JsonObject hook : extension.objects("hooks")) {
                rows.add("hook", hook(hook));
            }
            String failure = extension.text("last_failure", "");
            if (!failure.isEmpty()) {
                long seconds = Math.max(0, now - extension.number("last_failure_time", now));
                rows.add("last failure", Quantities.duration(seconds) + " ago, " + paint.bad(Printable.of(failure)));
            }
            lines.addAll(rows.lines());
        }
        return lines.isEmpty() ? List.of("no extensions") : lines;
    }

    private static String hook(JsonObject hook) {
        String name = Printable.of(hook.text("name", "?"));
        long calls = hook.number("calls", 0);
        String time = calls == 0
                ? ""
                : ", " + Quantities.count(hook.number("nanos", 0) / calls / NANOS_PER_MICRO) + " us per call";
        return name + " ".repeat(Math.max(1, HOOK_WIDTH - name.length()))
                + Quantities.count(calls, "call", "calls") + ", "
                + Quantities.count(hook.number("failures", 0)) + " failed" + time;
    }
}
