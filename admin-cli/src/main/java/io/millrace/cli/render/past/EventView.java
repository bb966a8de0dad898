package io.millrace.cli.render.past;

import io.millrace.cli.client.JsonObject;
import io.millrace.cli.render.Paint;
import io.millrace.cli.render.Printable;
import io.millrace.cli.render.Quantities;
import java.util.ArrayList;
import java.util.List;

/** Formats the response of {@code GET /v1/events} as text. Stateless. */
public final class EventView {
    private static final int KIND_WIDTH = 20;
    private static final int TIME_LENGTH = "2026-11-28T10:00:00".length();

    private EventView() {}

    /** Returns a line for each event, or a message if there are none. */
    public static List<String> lines(JsonObject report, Paint paint) {
        List<String> lines = new ArrayList<>();
        for (JsonObject event : report.objects("events")) {
            String at = event.text("at", "?");
            String kind = event.text("kind", "?");
            String padded = Printable.of(kind) + " ".repeat(Math.max(1, KIND_WIDTH - kind.length()));
            lines.add(Printable.of(
                            at.substring(0, Math.min(TIME_LENGTH, at.length())).replace('T', ' ')) + "  "
                    + painted(event.text("severity", ""), padded, paint) + "  "
                    + Printable.of(event.text("subject", "") + ": " + event.text("text", ""))
                    + more(event.number("more", 0)));
        }
        return lines.isEmpty() ? List.of("no events") : lines;
    }

    private static String more(long count) {
        return count == 0 ? "" : " (and " + Quantities.count(count) + " more before)";
    }

    private static String painted(String severity, String kind, Paint paint) {
        return switch (severity) {
            case "error" -> paint.bad(kind);
            case "warning" -> paint.doubtful(kind);
            default -> kind;
        };
    }
}
