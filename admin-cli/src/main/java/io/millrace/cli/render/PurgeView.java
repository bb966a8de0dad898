package io.millrace.cli.render;

import io.millrace.cli.client.JsonObject;
import java.util.List;

/** Formats the reply of {@code POST /v1/cache/purge} as text. */
public final class PurgeView {
    private PurgeView() {}

    /** Describes an invalidation in one line: its scope, its stamp and its meaning. */
    public static List<String> scope(JsonObject report) {
        String scope = report.text("scope", "");
        String target = report.text("target", "");
        String what = scope.equals("all") ? target : scope + " " + target;
        return List.of(Printable.of("invalidated: " + what + ", stamp " + report.number("stamp", 0) + " ("
                + report.text("detail", "") + ")"));
    }

    /** Describes the purge of a URL in one line: whether a response was stored, and the URL. */
    public static List<String> lines(JsonObject report, String url) {
        long number = report.number("purged", 0);
        String outcome;
        if (number > 0) {
            outcome = "purged (" + Quantities.count(number, "response", "responses") + ")";
        } else {
            outcome = report.isTrue("purged") ? "purged" : "not stored";
        }
        String detail = report.text("detail", "");
        return List.of(
                Printable.of(outcome + ": " + report.text("url", url) + (detail.isEmpty() ? "" : " (" + detail + ")")));
    }
}
