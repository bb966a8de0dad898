package io.millrace.proxy.admin.history;

import io.millrace.proxy.admin.history.HistorySource.Archive;
import io.millrace.proxy.admin.history.HistorySource.Point;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;
import tools.jackson.core.JsonGenerator;

/**
 * {@code GET /v1/history}: figures of the past, from the file that the launcher writes. Thread-safe.
 *
 * <p>Without {@code step}, the answer is taken from the finest archive that covers the range within the limit of
 * points. An archive contains figures of one step length; the finest archive has the shortest steps.
 */
public final class HistoryResource implements AdminResource {
    public static final String PATH = "/v1/history";

    /** Limit of points in an answer. */
    static final int POINTS_MAX = 2000;

    /** The series, in the order of the answer. */
    static final List<String> SERIES = List.of(
            "requests",
            "hits",
            "sent_bytes",
            "origin_bytes",
            "origin_requests",
            "origin_failures",
            "errors",
            "latency",
            "buckets");

    private static final long RANGE_DEFAULT_MILLIS = 3_600_000;

    private final HistorySource source;
    private final LongSupplier clockMillis;

    /** @param clockMillis time of day, epoch milliseconds */
    public HistoryResource(HistorySource source, LongSupplier clockMillis) {
        this.source = source;
        this.clockMillis = clockMillis;
    }

    @Override
    public String method() {
        return "GET";
    }

    @Override
    public String path() {
        return PATH;
    }

    /** True, because the figures are in a file. */
    @Override
    public boolean isBlocking() {
        return true;
    }

    /**
     * The range of an answer in seconds since 1970. The steps of the answer and of the archive to read are in seconds.
     */
    private record Range(long from, long to, long step, long archiveStep) {}

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        List<Archive> archives = source.archives();
        if (archives.isEmpty()) {
            throw new AdminException(409, "history-off", "no figures are recorded: admin.history is 0; set a size");
        }
        Set<String> series = series(request);
        Range range = range(request, archives);
        List<Point> points = points(range);
        responder.reply(AdminReply.json(json -> {
            json.writeNumberProperty("from", range.from());
            json.writeNumberProperty("to", range.to());
            json.writeNumberProperty("step", range.step());
            json.writeArrayPropertyStart("archives");
            archives.forEach(archive -> write(json, archive));
            json.writeEndArray();
            json.writeArrayPropertyStart("bounds_us");
            source.boundsMicros().forEach(json::writeNumber);
            json.writeEndArray();
            json.writeArrayPropertyStart("points");
            points.forEach(point -> write(json, point, series));
            json.writeEndArray();
        }));
    }

    private List<Point> points(Range range) throws AdminException {
        try {
            List<Point> read = source.read(range.archiveStep(), range.from(), range.to());
            return range.step() == range.archiveStep() ? read : Figures.joined(read, range.step());
        } catch (IOException e) {
            throw new AdminException(
                    500, "history-unreadable", "the recorded figures cannot be read: " + e.getMessage());
        }
    }

    private static Set<String> series(AdminRequest request) throws AdminException {
        Set<String> series = new LinkedHashSet<>();
        for (String list : request.parameters("series")) {
            for (String word : list.split(",", -1)) {
                if (!SERIES.contains(word.strip())) {
                    throw new AdminException(
                            400,
                            "bad-request",
                            "series: '" + word.strip() + "' is not a series, expected one of "
                                    + String.join(", ", SERIES));
                }
                series.add(word.strip());
            }
        }
        if (series.isEmpty()) {
            series.addAll(SERIES);
            series.remove("buckets");
        }
        return series;
    }

    private Range range(AdminRequest request, List<Archive> archives) throws AdminException {
        long now = clockMillis.getAsLong();
        long toMillis = TimeParameter.millis(request, "to", now, now);
        long fromMillis = TimeParameter.millis(request, "from", now, toMillis - RANGE_DEFAULT_MILLIS);
        if (fromMillis >= toMillis) {
            throw new AdminException(400, "bad-request", "the parameter 'from' is not before 'to'");
        }
        long requestedStep = TimeParameter.seconds(request, "step", 0);
        Archive archive = archive(archives, requestedStep, fromMillis, toMillis, now);
        if (requestedStep % archive.stepSeconds() != 0) {
            throw new AdminException(
                    400,
                    "bad-request",
                    "step: " + requestedStep + " s is not a multiple of a recorded step: " + steps(archives));
        }
        // Before the first record there is nothing to read.
        long oldest = Math.max(fromMillis / 1000, now / 1000 - archive.spanSeconds());
        long step =
                requestedStep > 0 ? requestedStep : archive.stepSeconds() * multiple(toMillis / 1000 - oldest, archive);
        long from = Math.floorDiv(oldest, step) * step;
        long to = Math.max(from, Math.min(toMillis, now + step * 1000) / 1000);
        if ((to - from) / step > POINTS_MAX) {
            throw new AdminException(
                    400,
                    "too-many-points",
                    "the range has more than " + POINTS_MAX + " steps of " + step + " s, the limit; request a longer"
                            + " step or a shorter range");
        }
        return new Range(from, to, step, archive.stepSeconds());
    }

    /**
     * Returns how many steps of an archive are joined to one point. With this number, the range stays within the limit
     * of points.
     */
    private static long multiple(long spanSeconds, Archive archive) {
        long points = spanSeconds / archive.stepSeconds();
        return Math.max(1, (points + POINTS_MAX - 1) / POINTS_MAX);
    }

    private static List<String> steps(List<Archive> archives) {
        List<String> steps = new ArrayList<>();
        archives.forEach(archive -> steps.add(archive.stepSeconds() + " s"));
        return steps;
    }

    /**
     * Returns the finest archive that covers the range; the coarsest if none does. With a requested step, returns the
     * coarsest archive whose step divides the requested step; the finest if none does.
     */
    private static Archive archive(
            List<Archive> archives, long requestedStep, long fromMillis, long toMillis, long now) {
        Archive chosen = archives.get(requestedStep > 0 ? 0 : archives.size() - 1);
        if (requestedStep > 0) {
            for (Archive archive : archives) {
                chosen = requestedStep % archive.stepSeconds() == 0 ? archive : chosen;
            }
            return chosen;
        }
        for (Archive archive : archives) {
            boolean covers = now - fromMillis <= (archive.spanSeconds() + archive.stepSeconds()) * 1000;
            if (covers && (toMillis - fromMillis) / 1000 / archive.stepSeconds() <= POINTS_MAX) {
                return archive;
            }
        }
        return chosen;
    }

    private static void write(JsonGenerator json, Archive archive) {
        json.writeStartObject();
        json.writeNumberProperty("step", archive.stepSeconds());
        json.writeNumberProperty("span", archive.spanSeconds());
        json.writeEndObject();
    }

    private void write(JsonGenerator json, Point point, Set<String> series) {
        json.writeStartObject();
        json.writeNumberProperty("at", point.atSeconds());
        json.writeNumberProperty("measured_ms", point.measuredMillis());
        for (String name : series) {
            switch (name) {
                case "requests" -> json.writeNumberProperty(name, point.requests());
                case "hits" -> json.writeNumberProperty(name, point.hits());
                case "sent_bytes" -> json.writeNumberProperty(name, point.sentBytes());
                case "origin_bytes" -> json.writeNumberProperty(name, point.originBytes());
                case "origin_requests" -> json.writeNumberProperty(name, point.originRequests());
                case "origin_failures" -> json.writeNumberProperty(name, point.originFailures());
                case "errors" -> json.writeNumberProperty(name, point.errors());
                case "latency" -> writeLatency(json, point);
                default -> {
                    writeBuckets(json, "hit_buckets", point.hitLatency());
                    writeBuckets(json, "miss_buckets", point.missLatency());
                    writeBuckets(json, "origin_buckets", point.originLatency());
                }
            }
        }
        json.writeEndObject();
    }

    private void writeLatency(JsonGenerator json, Point point) {
        long[] all = Figures.sum(point.hitLatency(), point.missLatency());
        writeQuantiles(json, "", all);
        writeQuantiles(json, "hit_", point.hitLatency());
        writeQuantiles(json, "miss_", point.missLatency());
        writeQuantiles(json, "origin_", point.originLatency());
    }

    private void writeQuantiles(JsonGenerator json, String prefix, long[] counts) {
        List<Long> bounds = source.boundsMicros();
        writeQuantile(json, prefix + "p50_us", Figures.quantile(counts, 0.5, bounds));
        writeQuantile(json, prefix + "p99_us", Figures.quantile(counts, 0.99, bounds));
    }

    private static void writeQuantile(JsonGenerator json, String name, double micros) {
        if (micros < 0) {
            json.writeNullProperty(name);
        } else {
            json.writeNumberProperty(name, Math.round(micros));
        }
    }

    private static void writeBuckets(JsonGenerator json, String name, long[] counts) {
        json.writeArrayPropertyStart(name);
        for (long count : counts) {
            json.writeNumber(count);
        }
        json.writeEndArray();
    }
}
