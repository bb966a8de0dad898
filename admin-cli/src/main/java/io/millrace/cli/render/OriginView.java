package io.millrace.cli.render;

import io.millrace.cli.client.JsonObject;
import java.util.ArrayList;
import java.util.List;

/** Formats the responses of {@code /v1/origins} and of its changes {@code up} and {@code down} as text. Stateless. */
public final class OriginView {
    private static final int STATE_WIDTH = 9;
    private static final int MICROS_PER_MILLI = 1000;

    private OriginView() {}

    /**
     * Returns a headline for each group, and up to four lines for each host. A group without hosts has the reason
     * instead. Returns a message if there are no groups.
     */
    public static List<String> lines(JsonObject report, Paint paint) {
        long nowSeconds = report.number("now", 0);
        List<String> lines = new ArrayList<>();
        String group = null;
        for (JsonObject host : report.objects("hosts")) {
            String name = Printable.of(host.text("group", "?"));
            if (!name.equals(group)) {
                lines.add(name + ", " + Printable.of(host.text("policy", "?")));
                group = name;
            }
            lines.add("  " + state(host, paint) + Printable.of(host.text("host", "?")) + ", weight "
                    + host.number("weight", 1) + (host.isTrue("backup") ? ", backup" : "")
                    + (host.isTrue("self") ? ", this proxy" : ""));
            addReason(host, nowSeconds, lines);
            long latency = host.number("latency_us", 0);
            lines.add(indent()
                    + Quantities.count(all(host, "requests"), "request", "requests") + ", "
                    + Quantities.count(all(host, "failures")) + " failed, "
                    + Quantities.count(host.number("under_way", 0)) + " under way"
                    + (latency == 0 ? "" : ", " + milliseconds(latency) + " ms"));
            addLastResults(host, nowSeconds, lines);
        }
        for (JsonObject empty : report.objects("empty")) {
            lines.add(Printable.of(empty.text("group", "?") + ", " + empty.text("policy", "?")));
            lines.add(Printable.of("  the group is empty: it needs another live node that takes requests, with"
                    + " fleet.tier: " + empty.text("tier", "?") + " and a fleet.address; see millctl fleet status"));
        }
        return lines.isEmpty() ? List.of("no groups of origins: each rule has an origin of its own") : lines;
    }

    /** Returns the count of the current worker process plus the count of earlier worker processes. */
    private static long all(JsonObject host, String name) {
        return host.number(name, 0) + host.number("earlier_" + name, 0);
    }

    /** Adds a line with the HTTP version and the times of the last success and failure, if they are known. */
    private static void addLastResults(JsonObject host, long nowSeconds, List<String> lines) {
        long success = host.number("last_success", 0);
        long failure = host.number("last_failure", 0);
        if (success > 0 || failure > 0) {
            String version = host.text("http_version", "");
            lines.add(indent()
                    + (version.isEmpty() ? "" : "HTTP/" + Printable.of(version) + ", ")
                    + (success == 0 ? "never answered" : "answered " + ago(nowSeconds - success))
                    + (failure == 0 ? "" : ", failed " + ago(nowSeconds - failure)));
        }
    }

    private static String ago(long seconds) {
        return seconds <= 0 ? "just now" : Quantities.duration(seconds) + " ago";
    }

    /** Adds a line about a host that is not up: the reason, since when, and until when. */
    private static void addReason(JsonObject host, long nowSeconds, List<String> lines) {
        String state = host.text("state", "");
        if (state.equals("up")) {
            return;
        }
        long since = host.number("since", 0);
        long until = host.number("until", 0);
        String line = Printable.of(host.text("reason", "no reason known"));
        if (since > 0) {
            line += ", for " + Quantities.duration(Math.max(0, nowSeconds - since));
        }
        if (until > nowSeconds) {
            line += (state.equals("put_down") ? ", up in " : ", tried in ") + Quantities.duration(until - nowSeconds);
        } else if (state.equals("put_down")) {
            line += ", until an operator puts the host up";
        }
        lines.add(indent() + line);
    }

    private static String milliseconds(long micros) {
        return micros / MICROS_PER_MILLI + "." + micros % MICROS_PER_MILLI / (MICROS_PER_MILLI / 10);
    }

    private static String indent() {
        return " ".repeat(STATE_WIDTH + 2);
    }

    /** Returns a line with the new state for each changed host. */
    public static List<String> changed(JsonObject report, Paint paint) {
        List<String> lines = new ArrayList<>();
        for (JsonObject host : report.objects("hosts")) {
            lines.add(state(host, paint) + Printable.of(host.text("host", "?")) + " of "
                    + Printable.of(host.text("group", "?")));
        }
        return lines;
    }

    private static String state(JsonObject host, Paint paint) {
        String state = Printable.of(host.text("state", "unknown")).replace('_', ' ');
        String painted =
                switch (state) {
                    case "up" -> paint.good(state);
                    case "suspect" -> paint.doubtful(state);
                    default -> paint.bad(state);
                };
        return painted + " ".repeat(Math.max(1, STATE_WIDTH - state.length()));
    }
}
