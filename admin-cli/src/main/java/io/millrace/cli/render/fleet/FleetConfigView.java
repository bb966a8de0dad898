package io.millrace.cli.render.fleet;

import io.millrace.cli.client.JsonObject;
import io.millrace.cli.render.Paint;
import io.millrace.cli.render.Printable;
import io.millrace.cli.render.Quantities;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Formats as text the state of the configuration that the nodes of a fleet share. Stateless. */
public final class FleetConfigView {
    /** Prefix of the position of an error in a pushed configuration. The number of the revision follows. */
    private static final String PUSHED = "fleet://config/";

    private static final int NODE_WIDTH = 18;
    private static final int TIER_WIDTH = 8;
    private static final int REVISION_WIDTH = 8;
    private static final int TIME_WIDTH = 20;
    private static final int BY_WIDTH = 12;
    private static final int HASH_WIDTH = 12;

    private FleetConfigView() {}

    /** Formats the response of {@code GET /v1/fleet/config}. */
    public static List<String> status(JsonObject state, Paint paint) {
        if (state.text("fleet", "").isEmpty()) {
            return List.of("no fleet; see fleet.name");
        }
        List<String> lines = new ArrayList<>();
        String on = state.text("state", "?");
        lines.add(Printable.of("fleet " + state.text("fleet", "?") + ", node " + state.text("node", "?")));
        String problem = state.text("problem", "");
        lines.add("  sharing      " + (on.equals("on") ? paint.good("on") : paint.doubtful(on))
                + Printable.of(problem.isEmpty() ? "" : ": " + problem));
        lines.add("  newest       " + newest(state));
        long failed = state.number("failed", 0);
        if (failed > 0) {
            lines.add("  "
                    + paint.doubtful("rolled back") + "  "
                    + Printable.of("revision " + failed + ": " + state.text("reason", "")));
        }
        lines.add(padded("node", NODE_WIDTH) + "  " + padded("tier", TIER_WIDTH) + "  revision  state");
        for (JsonObject node : state.objects("nodes")) {
            String reason = node.text("reason", "");
            String connection = node.text("connection", "live");
            lines.add(Printable.of(padded(node.text("node", "?"), NODE_WIDTH) + "  "
                    + padded(node.text("tier", "?"), TIER_WIDTH) + "  "
                    + right(Long.toString(node.number("revision", 0)), REVISION_WIDTH) + "  "
                    + node.text("state", "?")
                    + (connection.equals("live") ? "" : " (" + connection + ")")
                    + (reason.isEmpty() ? "" : ": " + reason)));
        }
        return lines;
    }

    private static String newest(JsonObject state) {
        if (state.number("newest", 0) == 0) {
            return "no revision";
        }
        String text = "revision " + state.number("newest", 0);
        if (!state.text("stage", "").equals("canary")) {
            return text + " for all nodes";
        }
        List<String> guards = state.texts("guards");
        return Printable.of(
                text + " on " + String.join(", ", state.texts("canary")) + " for " + state.number("canary_seconds", 0)
                        + " s" + (guards.isEmpty() ? "" : ", if " + String.join(" and ", guards)));
    }

    /** Formats the response of {@code GET /v1/fleet/config/history}, the newest revision first. */
    public static List<String> history(JsonObject report) {
        List<JsonObject> revisions = new ArrayList<>(report.objects("revisions"));
        Collections.reverse(revisions);
        if (revisions.isEmpty()) {
            return List.of("no revision; push one with millctl fleet config push");
        }
        List<String> lines = new ArrayList<>();
        lines.add("revision  " + padded("signed at", TIME_WIDTH) + "  " + padded("by", BY_WIDTH) + "      size  "
                + padded("content", HASH_WIDTH));
        for (JsonObject one : revisions) {
            String content = one.text("content", "none");
            String failure = one.text("failure", "");
            long restores = one.number("restores", 0);
            lines.add(Printable.of(right(Long.toString(one.number("revision", 0)), REVISION_WIDTH) + "  "
                    + padded(one.text("at", "?"), TIME_WIDTH) + "  "
                    + padded(one.text("by", "?"), BY_WIDTH) + "  "
                    + right(Quantities.bytes(one.number("length", 0)), 8) + "  "
                    + padded(content.substring(0, Math.min(HASH_WIDTH, content.length())), HASH_WIDTH)
                    + (one.isTrue("current") ? "  newest" : "")
                    + (restores > 0 ? "  content of " + restores : "")
                    + (failure.isEmpty() ? "" : "  rolled back: " + failure)));
        }
        return lines;
    }

    /** Formats the response of a push that was published. */
    public static List<String> pushed(JsonObject report, List<String> canary) {
        String to = canary.isEmpty() ? "all nodes" : "the canary on " + String.join(", ", canary);
        return List.of(Printable.of("revision " + report.number("revision", 0) + " is published for " + to
                + "; see millctl fleet config status"));
    }

    /**
     * Formats the response of a push that was refused.
     *
     * @param file name of the pushed file, which replaces the name of the revision in positions; empty for none
     */
    public static List<String> refused(JsonObject report, String file) {
        String revision = PUSHED + report.number("revision", 0);
        List<String> lines = new ArrayList<>();
        for (String problem : report.texts("problems")) {
            boolean isInFile = !file.isEmpty() && problem.startsWith(revision);
            lines.add(Printable.of(isInFile ? file + problem.substring(revision.length()) : problem));
        }
        return lines;
    }

    private static String padded(String text, int width) {
        return text + " ".repeat(Math.max(0, width - text.length()));
    }

    private static String right(String text, int width) {
        return " ".repeat(Math.max(0, width - text.length())) + text;
    }
}
