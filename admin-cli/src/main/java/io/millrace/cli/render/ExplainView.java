package io.millrace.cli.render;

import io.millrace.cli.client.JsonObject;
import java.util.List;

/** Formats the response of {@code GET /v1/explain}, the dry run of a request, as text. Stateless. */
public final class ExplainView {
    private ExplainView() {}

    /** Returns a headline with the result, then a line for each step. The line below a step names its reason. */
    public static List<String> lines(JsonObject report, Paint paint) {
        String asked = Printable.of(report.text("method", "GET") + " " + report.text("url", "?"));
        Rows rows = new Rows(paint.strong(asked) + " from " + Printable.of(report.text("client", "?")) + " to port "
                + report.number("port", 0) + ": " + verdict(report, paint));
        for (JsonObject step : report.objects("steps")) {
            rows.add(Printable.of(step.text("step", "")), Printable.of(step.text("text", "")));
            String by = step.text("by");
            if (by != null && !by.isEmpty()) {
                rows.more("by " + Printable.of(by));
            }
        }
        return rows.lines();
    }

    private static String verdict(JsonObject report, Paint paint) {
        String outcome = Printable.of(report.text("outcome", "?"));
        long status = report.number("status", 0);
        String words = outcome + (status == 0 ? "" : " (" + status + ")");
        return switch (outcome) {
            case "hit" -> paint.good(words);
            case "deny", "unavailable" -> paint.bad(words);
            default -> paint.doubtful(words);
        };
    }
}
