package io.millrace.cli.render;

import io.millrace.cli.client.JsonObject;
import java.util.ArrayList;
import java.util.List;

/** Formats the responses of {@code /v1/storage} and of its changes {@code online} and {@code offline}. Stateless. */
public final class StorageView {
    private static final int STATE_WIDTH = 9;

    private StorageView() {}

    /** Returns a paragraph for each volume; a message if there are none. */
    public static List<String> lines(JsonObject report, Paint paint) {
        List<String> lines = new ArrayList<>();
        for (JsonObject volume : report.objects("volumes")) {
            Rows rows = new Rows(Printable.of(volume.text("path", "?")) + " is " + state(volume, paint));
            String name = volume.text("volume");
            if (name != null) {
                rows.add(
                        "takes",
                        Quantities.percent(Math.round(volume.fraction("placement", 0) * 1000), 1000)
                                + " of the new objects of " + Printable.of(name));
            }
            long bytes = volume.number("bytes", 0);
            long bytesMax = volume.number("bytes_max", 0);
            rows.add(
                    "used",
                    Quantities.bytes(bytes) + " of " + Quantities.bytes(bytesMax) + " ("
                            + Quantities.percent(bytes, bytesMax) + "), "
                            + Quantities.count(volume.number("entries", 0), "object", "objects"));
            rows.add(
                    "in progress",
                    Quantities.bytes(volume.number("queued_bytes", 0)) + " to write, "
                            + Quantities.count(
                                    volume.number("pinned_segments", 0), "segment being read", "segments being read"));
            addWriting(volume, rows);
            long errors = volume.number("errors", 0);
            rows.add("errors", errors == 0 ? "none" : paint.bad(Quantities.count(errors)));
            String last = volume.text("last_error");
            if (last != null) {
                rows.more(Printable.of(last));
            }
            lines.addAll(rows.lines());
        }
        return lines.isEmpty() ? List.of("no storage: the cache is in RAM only") : lines;
    }

    /** Adds lines about written, refused, pinned and evicted objects, as far as their numbers are not zero. */
    private static void addWriting(JsonObject volume, Rows rows) {
        long written = volume.number("written_bytes", 0);
        long carried = volume.number("carried_bytes", 0);
        if (written > 0) {
            rows.add(
                    "written",
                    Quantities.bytes(written) + ", of that " + Quantities.percent(carried, written)
                            + " copied forward from "
                            + Quantities.count(
                                    volume.number("reclaimed_segments", 0), "reclaimed segment", "reclaimed segments"));
        }
        long refused = volume.number("refused", 0);
        if (refused > 0) {
            rows.add("refused", Quantities.count(refused, "new object", "new objects") + " while full");
        }
        long pinned = volume.number("pinned_bytes", 0);
        long broken = volume.number("pins_broken", 0);
        if (pinned > 0 || broken > 0) {
            rows.add("pinned", Quantities.bytes(pinned) + ", " + Quantities.count(broken, "pin", "pins") + " broken");
        }
        long evicted = volume.number("index_evictions", 0);
        if (evicted > 0) {
            rows.add("index full", Quantities.count(evicted, "object", "objects") + " evicted");
        }
    }

    /** Returns a line with the new state for each changed volume. */
    public static List<String> changed(JsonObject report, Paint paint) {
        List<String> lines = new ArrayList<>();
        for (JsonObject volume : report.objects("volumes")) {
            String state = volume.text("state", "?");
            lines.add(state(volume, paint) + " ".repeat(Math.max(1, STATE_WIDTH - state.length()))
                    + Printable.of(volume.text("path", "?")) + ", "
                    + Quantities.count(volume.number("entries", 0), "object", "objects"));
        }
        return lines;
    }

    private static String state(JsonObject volume, Paint paint) {
        String state = Printable.of(volume.text("state", "in an unknown state"));
        return switch (state) {
            case "online" -> paint.good(state);
            case "opening", "suspended" -> paint.doubtful(state);
            default -> paint.bad(state);
        };
    }
}
