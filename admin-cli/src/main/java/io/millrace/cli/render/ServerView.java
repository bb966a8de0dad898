package io.millrace.cli.render;

import io.millrace.cli.client.JsonObject;
import java.util.ArrayList;
import java.util.List;

/** Formats the responses below {@code /v1/server} as text. Stateless. */
public final class ServerView {
    private static final int MILLIS_WIDTH = 9;

    private ServerView() {}

    /** Describes the worker process, and each event loop in one line. */
    public static List<String> status(JsonObject report, Paint paint) {
        return status(report, JsonObject.empty(), paint);
    }

    /**
     * Describes the worker process, and each event loop in one line.
     *
     * @param launcherPart the member {@code process} of the launcher's status; it shows a new worker that warms up
     */
    public static List<String> status(JsonObject report, JsonObject launcherPart, Paint paint) {
        String state = Printable.of(report.text("state", "in an unknown state"));
        String painted = state.equals("running") ? paint.good(state) : paint.doubtful(state);
        Rows rows = new Rows(paint.strong("worker " + report.number("pid", 0)) + " is " + painted + ", up "
                + Quantities.duration(report.number("uptime_seconds", 0)));
        if (report.isTrue("draining")) {
            rows.add("drain", "asked for by an operator; to end it: millctl server drain --undo");
        }
        StatusView.addWarmUp(rows, launcherPart);
        rows.add("CPU", Quantities.tenths(report.fraction("cpu_seconds", 0)) + " s since its start");
        rows.add("memory", Quantities.bytes(report.number("resident_bytes", 0)) + " resident");
        rows.add(
                "open",
                Quantities.count(report.number("threads", 0), "thread", "threads") + ", "
                        + Quantities.count(report.number("descriptors", 0), "descriptor", "descriptors"));
        for (JsonObject loop : report.objects("loops")) {
            long requests = loop.number("requests_total", 0);
            long hits = loop.number("hits_total", 0);
            rows.add(
                    Printable.of(loop.text("thread", "loop")),
                    Quantities.count(loop.number("client_connections", 0)) + " client, "
                            + Quantities.count(loop.number("origin_connections", 0)) + " origin connections; "
                            + Quantities.count(requests, "request", "requests") + ", "
                            + Quantities.percent(hits, requests) + " hits");
        }
        return rows.lines();
    }

    /** Describes a restart in one line. */
    public static List<String> restart(JsonObject report, Paint paint) {
        long before = report.number("previous_pid", 0);
        long pid = report.number("pid", 0);
        if (before == 0 || pid == 0) {
            return List.of(paint.doubtful("no worker was running") + "; the next start is under way");
        }
        return List.of("worker " + pid + " " + paint.good("serves") + " in the place of " + before + ", after "
                + Quantities.tenths(report.number("millis", 0) / 1000.0) + " s; the old one finishes its requests");
    }

    /** Returns a line for each thread, with its stack on the lines below. */
    public static List<String> threads(JsonObject report, Paint paint) {
        List<String> lines = new ArrayList<>();
        lines.add("  CPU ms  state          thread");
        for (JsonObject thread : report.objects("threads")) {
            long millis = thread.number("cpu_millis", -1);
            String cpu = millis < 0 ? "-" : Quantities.count(millis);
            String state = Printable.of(thread.text("state", "?"));
            lines.add(" ".repeat(Math.max(0, MILLIS_WIDTH - 1 - cpu.length())) + cpu + "  " + state
                    + " ".repeat(Math.max(1, 15 - state.length()))
                    + paint.strong(Printable.of(thread.text("name", "?"))));
            for (String frame : thread.texts("stack")) {
                lines.add("            " + Printable.of(frame));
            }
        }
        long left = report.number("left", 0);
        if (left > 0) {
            lines.add("and " + Quantities.count(left, "more", "more"));
        }
        return lines;
    }
}
