package io.millrace.cli.render.cache;

import io.millrace.cli.client.JsonTree;
import io.millrace.cli.render.Printable;
import io.millrace.cli.render.Quantities;
import io.millrace.cli.warm.Feed;
import io.millrace.cli.warm.WarmTally;
import java.util.ArrayList;
import java.util.List;

/** Formats the result of {@code millctl cache warm} as text or JSON. Stateless. */
public final class WarmView {
    private static final int NAME_WIDTH = 18;
    private static final int NUMBER_WIDTH = 11;
    private static final int REASON_WIDTH = 54;

    private WarmView() {}

    /**
     * Returns the lines of the report.
     *
     * @param feed the input, with the numbers of repeated and invalid URLs
     * @param complete false if the run was interrupted
     * @param seconds duration of this run
     */
    public static List<String> lines(WarmTally tally, Feed feed, boolean complete, long seconds) {
        List<String> lines = new ArrayList<>();
        lines.add((complete ? "requested " : "interrupted after ")
                + Quantities.count(tally.total(), "URL", "URLs") + " in " + Quantities.duration(seconds) + ", "
                + Quantities.bytes(tally.bytes()));
        List<WarmTally.Reason> reasons = tally.reasons();
        for (WarmTally.Reason effect : tally.effects()) {
            lines.add("  " + left(effect.text()) + right(Quantities.count(effect.count())));
            for (WarmTally.Reason reason : reasons) {
                if (reason.effect().equals(effect.effect())) {
                    String text = Printable.of(reason.text());
                    lines.add("    " + right(Quantities.count(reason.count())) + "  "
                            + (text.length() > REASON_WIDTH ? text.substring(0, REASON_WIDTH - 3) + "..." : text));
                }
            }
        }
        if (tally.siteTotal() > 0) {
            lines.add("  hit ratio of these URLs: " + percent(tally.freshBefore(), tally.siteTotal()) + " before, "
                    + percent(tally.freshAfter(), tally.siteTotal()) + " now");
        }
        note(lines, feed.repeated(), "repeated URL", "repeated URLs");
        note(lines, feed.skipped(), "unsuitable input entry", "unsuitable input entries");
        note(lines, feed.invalid(), "invalid URL", "invalid URLs");
        for (String invalid : feed.invalidNamed()) {
            String text = Printable.of(invalid);
            lines.add("    " + (text.length() > 70 ? text.substring(0, 67) + "..." : text));
        }
        return lines;
    }

    private static void note(List<String> lines, long count, String one, String several) {
        if (count > 0) {
            lines.add("  left out: " + Quantities.count(count, one, several));
        }
    }

    /** Returns the report as JSON. */
    public static byte[] json(WarmTally tally, Feed feed, boolean complete, double seconds) {
        return JsonTree.object(json -> {
            json.bool("complete", complete).number("requested", tally.total()).fraction("seconds", seconds);
            tally.write(json);
            long siteTotal = tally.siteTotal();
            json.fraction("hit_ratio_before", siteTotal == 0 ? Double.NaN : (double) tally.freshBefore() / siteTotal)
                    .fraction("hit_ratio_now", siteTotal == 0 ? Double.NaN : (double) tally.freshAfter() / siteTotal)
                    .number("repeated", feed.repeated())
                    .number("skipped", feed.skipped())
                    .number("invalid", feed.invalid())
                    .texts("invalid_urls", feed.invalidNamed());
        });
    }

    private static String percent(long part, long whole) {
        long tenths = Math.round(1000.0 * part / whole);
        return tenths / 10 + (tenths % 10 == 0 ? "" : "." + tenths % 10) + "%";
    }

    private static String left(String text) {
        return text + " ".repeat(Math.max(0, NAME_WIDTH - text.length()));
    }

    private static String right(String text) {
        return " ".repeat(Math.max(0, NUMBER_WIDTH - text.length())) + text;
    }
}
