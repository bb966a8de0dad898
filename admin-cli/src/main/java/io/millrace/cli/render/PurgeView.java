package io.millrace.cli.render;

import io.millrace.cli.client.JsonObject;
import java.util.ArrayList;
import java.util.List;

/** Formats the results of purges and dry runs, and the list of purges, as text. Stateless. */
public final class PurgeView {
    private static final int STATE_WIDTH = 9;
    private static final int SCOPE_WIDTH = 7;
    private static final int COUNT_WIDTH = 10;

    private PurgeView() {}

    /**
     * Describes the purge of a scope (such as a host) in one line.
     *
     * @param soft true if the purge makes the responses stale; false if it removes them
     */
    public static List<String> scope(JsonObject report, boolean soft) {
        String scope = report.text("scope", "");
        String target = report.text("target", "");
        String scopeAndTarget = scope.equals("all") ? target : scope + " " + target;
        String id = report.has("id") ? ", purge " + report.text("id", "") : "";
        String outcome = soft ? "made stale: " : "invalidated: ";
        return List.of(Printable.of(outcome + scopeAndTarget + ", stamp " + report.number("stamp", 0) + id
                + objects(report) + " (" + report.text("detail", "") + ")" + fleet(report)));
    }

    private static String fleet(JsonObject report) {
        return report.has("fleet") ? ", fleet: " + report.text("fleet", "") : "";
    }

    private static String objects(JsonObject report) {
        return report.has("objects") ? ", " + Quantities.count(report.number("objects", 0), "object", "objects") : "";
    }

    /** Describes the purge of a URL in one line, and whether a response was stored. */
    public static List<String> lines(JsonObject report, String url) {
        long number = report.number("purged", 0);
        String outcome;
        if (number > 0) {
            outcome = "purged (" + Quantities.count(number, "response", "responses") + ")";
        } else {
            outcome = report.isTrue("purged") ? "purged" : "not stored";
        }
        String detail = report.text("detail", "");
        String count = report.isTrue("purged") ? objects(report) : "";
        String id = report.has("id") ? ", purge " + report.text("id", "") : "";
        return List.of(Printable.of(outcome + ": " + report.text("url", url) + id + count
                + (detail.isEmpty() ? "" : " (" + detail + ")") + fleet(report)));
    }

    /** Formats the response of {@code GET /v1/cache/purges}, with a line for each purge. */
    public static List<String> list(JsonObject report) {
        List<String> lines = new ArrayList<>();
        for (JsonObject purge : report.objects("purges")) {
            String objects = purge.has("objects") ? Quantities.count(purge.number("objects", 0)) : "-";
            lines.add(Printable.of(purge.text("id", "?") + "  " + purge.text("at", "?") + "  "
                    + padded(purge.text("state", "?"), STATE_WIDTH) + " " + purge.text("mode", "?") + " "
                    + padded(purge.text("scope", "?"), SCOPE_WIDTH) + " "
                    + " ".repeat(Math.max(0, COUNT_WIDTH - objects.length())) + objects + "  "
                    + purge.text("target", "") + site(purge)));
        }
        return lines.isEmpty() ? List.of("no purges") : lines;
    }

    private static String padded(String text, int width) {
        return text + " ".repeat(Math.max(0, width - text.length()));
    }

    /** Formats the response of {@code GET /v1/cache/purge}, the record of one purge. */
    public static List<String> show(JsonObject purge) {
        Rows rows = new Rows(Printable.of(name(purge)));
        String dryRun = isDryRun(purge) ? ", nothing was purged" : "";
        rows.add("state", Printable.of(purge.text("state", "?") + dryRun));
        rows.add("at", Printable.of(purge.text("at", "?")));
        rows.add("client", Printable.of(client(purge)));
        rows.add("target", Printable.of(modeAndTarget(purge)));
        rows.add("objects", count(purge));
        if (purge.has("sweep")) {
            rows.add("sweep", Printable.of(purge.text("sweep", "")));
        }
        if (purge.has("undo_until")) {
            rows.add("undo until", Printable.of(purge.text("undo_until", "")));
        }
        JsonObject count = purge.object("count");
        if (count.has("note")) {
            rows.add("note", Printable.of(count.text("note", "")));
        }
        for (String url : count.texts("urls")) {
            rows.more(Printable.of(url));
        }
        return rows.lines();
    }

    private static String client(JsonObject purge) {
        List<String> parts = new ArrayList<>();
        parts.add(purge.text("via", "?"));
        if (purge.has("uid")) {
            parts.add("user " + purge.number("uid", 0));
        }
        if (purge.has("token")) {
            parts.add("token " + purge.text("token", ""));
        }
        if (purge.has("address")) {
            parts.add(purge.text("address", ""));
        }
        return String.join(", ", parts);
    }

    private static String modeAndTarget(JsonObject purge) {
        String scope = purge.text("scope", "?");
        String target = purge.text("target", "");
        return purge.text("mode", "?") + ", " + (scope.equals("all") ? target : (scope + " " + target).strip())
                + site(purge);
    }

    /**
     * Returns text with the site of purged tags. Empty if the target already ends with the site. In records of earlier
     * versions the target does not contain the site.
     */
    private static String site(JsonObject purge) {
        String named = purge.text("site", "");
        return purge.has("site") && !purge.text("target", "").endsWith(" of " + named) ? " of " + named : "";
    }

    private static String count(JsonObject purge) {
        if (!purge.has("objects")) {
            return "not counted";
        }
        return Quantities.count(purge.number("objects", 0)) + ", " + Quantities.bytes(purge.number("bytes", 0))
                + (purge.text("state", "").equals("counting") ? " so far, " + progress(purge) : "");
    }

    /**
     * Returns the progress of counting the purged objects, such as {@code 12.5% of the inventory}. The inventory is the
     * table of stored objects.
     */
    public static String progress(JsonObject purge) {
        JsonObject count = purge.object("count");
        long examined = count.number("examined", 0);
        return Quantities.percent(examined, count.number("entries", examined)) + " of the inventory";
    }

    /** Describes in one line that a purge was undone or cancelled. */
    public static List<String> changed(JsonObject purge) {
        return List.of(Printable.of(purge.text("state", "?") + ": " + name(purge) + " (" + modeAndTarget(purge) + ")"));
    }

    private static boolean isDryRun(JsonObject purge) {
        return purge.isTrue("dry_run");
    }

    /** Returns the kind and the identifier of a purge or dry run. */
    private static String name(JsonObject purge) {
        return (isDryRun(purge) ? "dry run " : "purge ") + purge.text("id", "?");
    }

    /** Describes the dry run of a purge: number, size and first URLs of the affected objects. */
    public static List<String> dryRun(JsonObject run) {
        List<String> lines = new ArrayList<>();
        long objects = run.number("objects", 0);
        boolean isIncomplete = run.text("state", "").equals("cancelled");
        lines.add(Printable.of((isIncomplete ? "cancelled; would purge at least " : "would purge ")
                + Quantities.count(objects, "object", "objects") + ", "
                + Quantities.bytes(run.number("bytes", 0)) + " (" + modeAndTarget(run) + ")"));
        JsonObject count = run.object("count");
        List<String> urls = count.texts("urls");
        for (String url : urls) {
            lines.add(Printable.of("  " + url));
        }
        if (count.isTrue("more_urls")) {
            lines.add("  ...");
        }
        if (!count.isTrue("ram_only_counted")) {
            lines.add("objects in RAM only are not counted");
        }
        if (count.has("note")) {
            lines.add(Printable.of(count.text("note", "")));
        }
        return lines;
    }

    /** Describes a finished purge with the number and size of its objects in one line. */
    public static List<String> counted(JsonObject purge) {
        String objects = purge.has("objects")
                ? Quantities.count(purge.number("objects", 0), "object", "objects") + ", "
                        + Quantities.bytes(purge.number("bytes", 0))
                : "not counted";
        return List.of(
                Printable.of("purged: " + modeAndTarget(purge) + ", " + objects + ", purge " + purge.text("id", "?")));
    }
}
