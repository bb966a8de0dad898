package io.millrace.cli.render.fleet;

import io.millrace.cli.client.JsonObject;
import io.millrace.cli.render.Paint;
import io.millrace.cli.render.Printable;
import io.millrace.cli.render.Quantities;
import java.util.ArrayList;
import java.util.List;

/** Formats as text the state of a fleet (nodes that share purges), and which nodes have applied a purge. Stateless. */
public final class FleetView {
    private static final int LABEL_WIDTH = 13;
    private static final int NODE_WIDTH = 18;
    private static final int TIER_WIDTH = 8;
    private static final int VERSION_WIDTH = 16;

    private FleetView() {}

    /** Formats the response of {@code GET /v1/fleet}. */
    public static List<String> status(JsonObject report, Paint paint) {
        if (report.text("state", "off").equals("off")) {
            return List.of("no fleet; see fleet.name");
        }
        String state = report.text("state", "");
        boolean connected = state.equals("connected");
        List<String> lines = new ArrayList<>();
        String names = "fleet " + report.text("fleet", "?") + ", node " + report.text("node", "?");
        lines.add(Printable.of(names + ", tier " + report.text("tier", "?")));
        lines.add(labelled("state", connected ? paint.good("connected") : paint.doubtful(Printable.of(state))));
        if (!report.text("problem", "").isEmpty()) {
            lines.add(labelled("problem", Printable.of(report.text("problem", ""))));
        }
        String applied = report.number("applied", 0) + " of " + report.number("stream_last", 0) + " messages";
        lines.add(labelled("applied", applied + ", lag " + report.number("lag", 0)));
        lines.add(labelled("outbox", Quantities.bytes(report.number("outbox_bytes", 0))));
        lines.add("node" + " ".repeat(NODE_WIDTH - 4) + "  tier" + " ".repeat(TIER_WIDTH - 4) + "  version"
                + " ".repeat(VERSION_WIDTH - 7) + "  state    applied    lag  config  seen");
        for (JsonObject node : report.objects("nodes")) {
            lines.add(node(node));
            List<String> refused = node.texts("refused");
            if (!refused.isEmpty()) {
                lines.add(Printable.of("  refused messages " + String.join(", ", refused)));
            }
        }
        return lines;
    }

    private static String node(JsonObject node) {
        String lag = node.has("lag") ? Long.toString(node.number("lag", 0)) : "-";
        return Printable.of(padded(node.text("node", "?"), NODE_WIDTH) + "  "
                + padded(node.text("tier", "?"), TIER_WIDTH)
                + "  " + padded(node.text("version", "?"), VERSION_WIDTH) + "  " + padded(node.text("state", "?"), 5)
                + right(Long.toString(node.number("applied", 0)), 11) + right(lag, 7)
                + right(
                        node.number("config_revision", 0) == 0 ? "-" : Long.toString(node.number("config_revision", 0)),
                        8)
                + "  "
                + node.number("seen_seconds", 0) + " s");
    }

    private static String labelled(String label, String value) {
        return "  " + padded(label, LABEL_WIDTH) + value;
    }

    private static String padded(String text, int width) {
        return text + " ".repeat(Math.max(0, width - text.length()));
    }

    private static String right(String text, int width) {
        return " ".repeat(Math.max(0, width - text.length())) + text;
    }

    /** Formats the response of {@code GET /v1/fleet/purge}: nodes with the purge, and nodes without it. */
    public static List<String> purge(JsonObject report) {
        List<String> lines = new ArrayList<>();
        List<String> applied = report.texts("applied");
        String note = report.text("note", "");
        String published = "";
        if (report.number("sequence", 0) != 0) {
            published = ", applied by " + Quantities.count(applied.size(), "node", "nodes");
        } else if (note.startsWith("the purge waits")) {
            published = ", not published";
        }
        lines.add(Printable.of(
                "fleet: " + report.text("state", "?") + published + (note.isEmpty() ? "" : " (" + note + ")")));
        for (JsonObject node : report.objects("missing")) {
            lines.add(Printable.of("  missing: " + node.text("node", "?") + " " + node.text("reason", "")));
        }
        for (JsonObject node : report.objects("away")) {
            lines.add(Printable.of("  away: " + node.text("node", "?") + ", last seen "
                    + node.number("seen_seconds", 0)
                    + " s ago; on return it applies the missed purges, or revalidates all stored responses"));
        }
        return lines;
    }
}
