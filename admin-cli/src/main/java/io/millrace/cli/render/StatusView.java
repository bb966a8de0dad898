package io.millrace.cli.render;

import io.millrace.cli.client.JsonObject;
import java.util.List;
import java.util.StringJoiner;

/** Formats the response of {@code GET /v1/status} as text. Stateless. */
public final class StatusView {
    private StatusView() {}

    /** Returns a headline, then a line for each topic that the response contains. */
    public static List<String> lines(JsonObject status, String address, Paint paint) {
        String state = Printable.of(status.text("state", "in an unknown state"));
        Rows rows = new Rows(
                paint.strong(Printable.of(status.text("product", "Millrace") + " " + status.text("version", "?")))
                        + " is " + painted(state, paint)
                        + (status.has("uptime_seconds")
                                ? ", up " + Quantities.duration(status.number("uptime_seconds", 0))
                                : ""));
        addProcesses(rows, status, paint);
        addTraffic(rows, status);
        addCache(rows, status.object("cache"), paint);
        addConfig(rows, status.object("config"), paint);
        if (status.has("java")) {
            // Transport and TLS are empty strings while no worker responds.
            String transport = status.text("transport", "?");
            String tls = status.text("tls", "none");
            rows.add(
                    "runs on",
                    Printable.of("JDK " + status.text("java", "?") + (transport.isEmpty() ? "" : ", " + transport)
                            + (tls.isEmpty() ? "" : ", TLS " + tls)));
        }
        rows.add("admin", Printable.of(address));
        return rows.lines();
    }

    private static String painted(String state, Paint paint) {
        return switch (state) {
            case "running", "ready", "online", "ok" -> paint.good(state);
            case "starting", "draining", "opening", "backing-off" -> paint.doubtful(state);
            default -> paint.bad(state);
        };
    }

    private static void addProcesses(Rows rows, JsonObject status, Paint paint) {
        StringJoiner listeners = new StringJoiner(", ");
        for (JsonObject listener : status.objects("listeners")) {
            listeners.add(Printable.of(listener.text("address", "?") + " (" + listener.text("protocol", "?") + ")"));
        }
        if (status.has("listeners")) {
            rows.add("listens on", listeners.length() == 0 ? paint.bad("nothing") : listeners.toString());
        }
        if (status.has("process")) {
            JsonObject process = status.object("process");
            long worker = process.number("worker_pid", 0);
            rows.add(
                    "processes",
                    "launcher " + process.number("launcher_pid", 0) + ", worker "
                            + (worker == 0 ? "" : worker + " ")
                            + painted(Printable.of(process.text("worker_state", "unknown")), paint) + ", "
                            + Quantities.count(process.number("worker_restarts", 0), "restart", "restarts"));
            addWarmUp(rows, process);
        }
    }

    /** Adds a line about a new worker that warms up before it replaces the old one, if there is one. */
    static void addWarmUp(Rows rows, JsonObject process) {
        if (process.has("warming_up")) {
            JsonObject warmUp = process.object("warming_up");
            rows.add(
                    "warming up",
                    "worker " + warmUp.number("worker_pid", 0) + " for " + warmUp.number("seconds", 0)
                            + " s of at most " + warmUp.number("limit_seconds", 0) + " s, before it takes over");
        }
    }

    private static void addTraffic(Rows rows, JsonObject status) {
        if (status.has("connections")) {
            JsonObject connections = status.object("connections");
            rows.add(
                    "connections",
                    Quantities.count(connections.number("client", 0)) + " client, "
                            + Quantities.count(connections.number("origin", 0)) + " origin");
        }
        if (status.has("requests_total")) {
            JsonObject cache = status.object("cache");
            long hits = cache.number("hits_total", 0);
            long misses = cache.number("misses_total", 0);
            rows.add(
                    "requests",
                    Quantities.count(status.number("requests_total", 0)) + "; "
                            + Quantities.count(hits, "hit", "hits") + " (" + Quantities.percent(hits, hits + misses)
                            + "), "
                            + Quantities.count(misses, "miss", "misses"));
        }
    }

    private static void addCache(Rows rows, JsonObject cache, Paint paint) {
        if (cache.has("ram")) {
            rows.add("RAM", fill(cache.object("ram")));
        }
        for (JsonObject volume : cache.objects("volumes")) {
            rows.add(
                    "volume",
                    Printable.of(volume.text("path", "?")) + " "
                            + painted(Printable.of(volume.text("state", "unknown")), paint) + ", " + fill(volume));
        }
    }

    private static String fill(JsonObject tier) {
        long bytes = tier.number("bytes", 0);
        long bytesMax = tier.number("bytes_max", 0);
        return Quantities.bytes(bytes) + " of " + Quantities.bytes(bytesMax) + " ("
                + Quantities.percent(bytes, bytesMax) + "), "
                + Quantities.count(tier.number("entries", 0), "entry", "entries");
    }

    private static void addConfig(Rows rows, JsonObject config, Paint paint) {
        String loadedAt = config.text("loaded_at");
        String file = config.text("file");
        if (loadedAt != null || file != null) {
            rows.add(
                    "config",
                    Printable.of((file == null ? "no file" : file) + (loadedAt == null ? "" : ", loaded " + loadedAt)));
        }
        if (config.has("last_reload")) {
            JsonObject last = config.object("last_reload");
            boolean ok = last.isTrue("ok");
            rows.add(
                    "last reload",
                    (ok ? paint.good("ok") : paint.bad("rejected"))
                            + Printable.of(" at " + last.text("at", "?"))
                            + (ok ? "" : "; the previous configuration stays in use"));
            for (String problem : ProblemLines.of(last)) {
                rows.more(problem);
            }
        }
    }

    /** Returns true if the last reload was rejected. The previous configuration is then still in use. */
    public static boolean isLastReloadRejected(JsonObject status) {
        JsonObject config = status.object("config");
        return config.has("last_reload") && !config.object("last_reload").isTrue("ok");
    }
}
