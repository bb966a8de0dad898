package io.millrace.launcher.history;

import io.millrace.proxy.observe.MetricFamily;
import io.millrace.proxy.observe.OriginMetric;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/** Parses the counters that the history needs from a worker's metrics. Stateless. */
final class MetricsText {
    private static final Set<String> HITS = Set.of("hit", "stale", "revalidated");

    private static final String REQUESTS = MetricFamily.REQUESTS.metricName();
    private static final String RESPONSES = MetricFamily.RESPONSES.metricName();
    private static final String SENT = MetricFamily.SENT_BYTES.metricName();
    private static final String RECEIVED = MetricFamily.RECEIVED_BYTES.metricName();
    private static final String ORIGIN_REQUESTS = OriginMetric.REQUESTS.metricName();
    private static final String ORIGIN_FAILURES = OriginMetric.FAILURES.metricName();
    private static final String DURATION = MetricFamily.REQUEST_DURATION.metricName() + "_bucket";
    private static final String ORIGIN_DURATION = OriginMetric.REQUEST_DURATION.metricName() + "_bucket";
    private static final String PROCESS_START = "process_start_time_seconds";

    private MetricsText() {}

    /**
     * The counters of one worker at one time.
     *
     * @param startedSeconds start of the worker process in seconds since 1970; 0 if not known
     */
    record Sample(double startedSeconds, Figures figures) {}

    /** Parses a text in the Prometheus format. Skips time series that the history does not need. */
    static Sample parse(String text) {
        Figures figures = new Figures();
        long[] cumulative = new long[Figures.HISTOGRAMS];
        double started = 0;
        int at = 0;
        while (at < text.length()) {
            int end = text.indexOf('\n', at);
            end = end < 0 ? text.length() : end;
            if (text.startsWith(PROCESS_START, at)) {
                started = value(text, at, end);
            } else if (text.startsWith("millrace_", at)) {
                read(text.substring(at, end), figures, cumulative);
            }
            at = end + 1;
        }
        return new Sample(started, figures);
    }

    private static void read(String line, Figures figures, long[] cumulative) {
        int brace = line.indexOf('{');
        if (brace < 0) {
            return;
        }
        String name = line.substring(0, brace);
        long value = Math.round(value(line, 0, line.length()));
        if (name.equals(DURATION)) {
            String from = label(line, "served_from");
            if (from.equals("cache")) {
                readBucket(line, Figures.HIT_LATENCY, value, figures, cumulative);
            } else if (from.equals("origin")) {
                readBucket(line, Figures.MISS_LATENCY, value, figures, cumulative);
            }
        } else if (name.equals(ORIGIN_DURATION)) {
            readBucket(line, Figures.ORIGIN_LATENCY, value, figures, cumulative);
        } else if (name.equals(REQUESTS)) {
            figures.add(Figures.REQUESTS, value);
            figures.add(Figures.HITS, HITS.contains(label(line, "cache")) ? value : 0);
        } else if (name.equals(RESPONSES) && label(line, "status_class").equals("5xx")) {
            figures.add(Figures.ERRORS, value);
        } else if (name.equals(SENT) && label(line, "side").equals("client")) {
            figures.add(Figures.SENT_BYTES, value);
        } else if (name.equals(RECEIVED) && label(line, "side").equals("origin")) {
            figures.add(Figures.ORIGIN_BYTES, value);
        } else if (name.equals(ORIGIN_REQUESTS)) {
            figures.add(Figures.ORIGIN_REQUESTS, value);
        } else if (name.equals(ORIGIN_FAILURES)) {
            figures.add(Figures.ORIGIN_FAILURES, value);
        }
    }

    /** Adds a bucket. Its value in the text includes all lower buckets, which precede it. */
    private static void readBucket(String line, int histogram, long value, Figures figures, long[] cumulative) {
        String bound = label(line, "le");
        int bucket = Figures.bucket(bound.equals("+Inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(bound));
        if (bucket >= 0) {
            figures.addBucket(histogram, bucket, Math.max(0, value - cumulative[histogram]));
            cumulative[histogram] = bucket == Figures.BUCKETS - 1 ? 0 : value;
        }
    }

    /** Returns the value of a label, which must contain no escapes; empty if the line does not have it. */
    private static String label(String line, String name) {
        String start = name + "=\"";
        int at = line.indexOf(start);
        int end = at < 0 ? -1 : line.indexOf('"', at + start.length());
        return end < 0 ? "" : line.substring(at + start.length(), end);
    }

    private static double value(String text, int at, int end) {
        int space = text.lastIndexOf(' ', end - 1);
        try {
            return space < at ? 0 : Double.parseDouble(text.substring(space + 1, end));
        } catch (NumberFormatException e) {
            // Prometheus' +Inf is not a number for Java. A counter is never +Inf.
            return 0;
        }
    }

    /** Returns the inclusive upper bounds of all buckets but the last, in microseconds. */
    static List<Long> boundsMicros() {
        return Arrays.stream(Figures.boundsMicros()).boxed().toList();
    }
}
