package io.millrace.cli.render.past;

import io.millrace.cli.client.JsonObject;
import io.millrace.cli.render.Paint;
import io.millrace.cli.render.Printable;
import java.util.ArrayList;
import java.util.List;

/** Formats the response of {@code GET /v1/alarms} as text. Stateless. */
public final class AlarmView {
    private static final int KIND_WIDTH = 20;
    private static final int TIME_LENGTH = "2026-11-28T10:00:00".length();

    private AlarmView() {}

    /** Returns a line for each alarm, or a message if there are none. */
    public static List<String> lines(JsonObject report, Paint paint) {
        List<String> lines = new ArrayList<>();
        for (JsonObject alarm : report.objects("alarms")) {
            String since = alarm.text("since", "since unknown");
            String kind = Printable.of(alarm.text("kind", "?"));
            String padded = kind + " ".repeat(Math.max(1, KIND_WIDTH - kind.length()));
            boolean isError = alarm.text("severity", "").equals("error");
            lines.add(Printable.of(since.substring(0, Math.min(TIME_LENGTH, since.length()))
                            .replace('T', ' ')) + "  "
                    + (isError ? paint.bad(padded) : paint.doubtful(padded)) + "  "
                    + Printable.of(alarm.text("subject", "") + ": " + alarm.text("text", "")));
        }
        return lines.isEmpty() ? List.of("no alarms") : lines;
    }
}
