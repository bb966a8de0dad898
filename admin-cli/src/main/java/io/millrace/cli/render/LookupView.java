package io.millrace.cli.render;

import io.millrace.cli.client.JsonObject;
import java.util.ArrayList;
import java.util.List;

/** Formats the response of {@code GET /v1/cache/lookup} as text. Stateless. */
public final class LookupView {
    private LookupView() {}

    /**
     * Returns a headline with the result, and lines with properties of the stored response. A URL with several
     * cache keys has such a paragraph for each key.
     */
    public static List<String> lines(JsonObject report, String url, Paint paint) {
        List<String> lines = new ArrayList<>(linesOf(report, url, paint));
        for (JsonObject other : report.objects("others")) {
            lines.add("");
            lines.addAll(linesOf(other, url, paint));
        }
        return lines;
    }

    private static List<String> linesOf(JsonObject report, String url, Paint paint) {
        boolean stored = report.isTrue("stored");
        Rows rows = new Rows(paint.strong(Printable.of(report.text("url", url))) + " is " + verdict(report, paint));
        addText(rows, "reason", report, "reason");
        rows.add("rule", Printable.of(report.text("rule", "none matches")));
        addText(rows, "key", report, "key");
        if (!stored) {
            return rows.lines();
        }
        if (report.has("status")) {
            rows.add("status", Long.toString(report.number("status", 0)));
        }
        if (report.has("age_seconds")) {
            rows.add(
                    "age",
                    Quantities.duration(report.number("age_seconds", 0)) + " of a lifetime of "
                            + Quantities.duration(report.number("freshness_lifetime_seconds", 0)) + ", "
                            + remainingLifetime(report));
        }
        long length = report.number("length", -1);
        if (length >= 0) {
            rows.add(
                    "length",
                    Quantities.bytes(length) + (length < 1024 ? "" : " (" + Quantities.count(length) + " bytes)"));
        }
        List<String> vary = report.texts("vary");
        rows.add("vary", vary.isEmpty() ? "none" : Printable.of(String.join(", ", vary)));
        addText(rows, "etag", report, "etag");
        addText(rows, "modified", report, "last_modified");
        List<String> tags = report.texts("tags");
        if (!tags.isEmpty()) {
            rows.add("tags", Printable.of(String.join(" ", tags)));
        }
        return rows.lines();
    }

    private static String verdict(JsonObject report, Paint paint) {
        if (!report.isTrue("stored")) {
            return paint.doubtful("not stored");
        }
        String tier = Printable.of(report.text("tier", ""));
        String where = tier.equals("ram") ? " in RAM" : tier.isEmpty() ? "" : " on " + tier;
        return "stored" + where + ", " + (report.isTrue("fresh") ? paint.good("fresh") : paint.doubtful("stale"));
    }

    private static String remainingLifetime(JsonObject report) {
        long lifetime = report.number("freshness_lifetime_seconds", 0);
        long left = report.number("ttl_seconds", lifetime - report.number("age_seconds", 0));
        return left > 0 ? Quantities.duration(left) + " left" : "expired " + Quantities.duration(-left) + " ago";
    }

    private static void addText(Rows rows, String label, JsonObject report, String name) {
        String text = report.text(name, "");
        if (!text.isEmpty()) {
            rows.add(label, Printable.of(text));
        }
    }
}
