package io.millrace.cli.command.server;

import io.millrace.cli.client.JsonObject;
import io.millrace.cli.render.Paint;
import io.millrace.cli.render.Printable;
import io.millrace.cli.render.Quantities;
import java.util.ArrayList;
import java.util.List;

/** Formats the response of {@code /v1/hosts} as text. Stateless. */
final class HostView {
    private static final int STATE_WIDTH = 5;
    private static final String INDENT = " ".repeat(STATE_WIDTH);

    private HostView() {}

    /** Returns up to three lines for each origin, then each host name with its cached addresses. */
    static List<String> lines(JsonObject report, Paint paint) {
        long now = report.number("now", 0);
        List<String> lines = new ArrayList<>();
        for (JsonObject origin : report.objects("origins")) {
            boolean down = origin.text("state", "").equals("down");
            String state = down ? paint.bad("down") + " " : paint.good("up") + "   ";
            lines.add(state + Printable.of(origin.text("origin", "?")));
            if (down) {
                lines.add(INDENT + Printable.of(origin.text("reason", "no reason known")) + ", for "
                        + Quantities.duration(Math.max(0, now - origin.number("since", now)))
                        + next(origin.number("until", 0) - now));
            }
            lines.add(INDENT + results(origin, now));
        }
        if (lines.isEmpty()) {
            lines.add("no requests to origins without a group so far");
        }
        List<JsonObject> names = report.objects("names");
        if (!names.isEmpty()) {
            lines.add("");
            lines.add("Cached addresses");
        }
        for (JsonObject name : names) {
            addName(name, now, lines);
        }
        long leftOut = report.number("left_out", 0);
        if (leftOut > 0) {
            lines.add("");
            lines.add(Quantities.count(leftOut) + " more are not shown; use millctl host show HOST");
        }
        return lines;
    }

    private static String next(long seconds) {
        return seconds > 0 ? ", next attempt in " + Quantities.duration(seconds) : ", next attempt now";
    }

    private static String results(JsonObject origin, long now) {
        long success = origin.number("last_success", 0);
        long failure = origin.number("last_failure", 0);
        long failures = origin.number("failures_in_a_row", 0);
        String version = origin.text("http_version", "");
        String answered = success == 0
                ? "never answered"
                : (version.isEmpty() ? "" : "HTTP/" + Printable.of(version) + ", ") + "answered " + ago(now - success);
        return answered
                + (failure == 0 ? "" : ", failed " + ago(now - failure))
                + (failures == 0 ? "" : ", " + Quantities.count(failures) + " in a row");
    }

    private static void addName(JsonObject name, long now, List<String> lines) {
        long left = name.number("expires", 0) - now;
        String problem = name.text("problem", "");
        lines.add("  " + Printable.of(name.text("name", "?")) + ", "
                + (left > 0 ? "for " + Quantities.duration(left) : "expired")
                + (problem.isEmpty() ? "" : ": no address"));
        for (JsonObject address : name.objects("addresses")) {
            long until = address.number("until", 0) - now;
            lines.add("    " + Printable.of(address.text("address", "?"))
                    + (until > 0 ? ", failed, tried after the others for " + Quantities.duration(until) : ""));
        }
    }

    private static String ago(long seconds) {
        return seconds <= 0 ? "just now" : Quantities.duration(seconds) + " ago";
    }

    /** Returns a number with its noun. */
    static String count(JsonObject report, String member, String noun) {
        return Quantities.count(report.number(member, 0), noun, noun + "s");
    }
}
