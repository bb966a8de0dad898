package io.millrace.launcher.history;

/** The requests that a worker has answered: all until one time, or those between two times. Immutable. */
public final class TrafficSample {
    private static final double P99 = 0.99;

    private final String worker;
    private final Figures figures;

    private TrafficSample(String worker, Figures figures) {
        this.worker = worker;
        this.figures = figures;
    }

    /** Returns a sample without a request. */
    public static TrafficSample none() {
        return new TrafficSample("", new Figures());
    }

    /**
     * Reads a sample.
     *
     * @param worker identifier of the worker
     * @param metrics its metrics in the text format of Prometheus
     */
    public static TrafficSample of(String worker, String metrics) {
        return new TrafficSample(worker, MetricsText.parse(metrics).figures());
    }

    /** Returns the requests since an earlier sample. If a new worker has started since, returns all of its requests. */
    public TrafficSample since(TrafficSample earlier) {
        return worker.equals(earlier.worker) ? new TrafficSample(worker, figures.since(earlier.figures)) : this;
    }

    /** Returns the number of requests. */
    public long requests() {
        return figures.count(Figures.REQUESTS);
    }

    /** Returns the percentage of requests that were answered from the cache; NaN without a request. */
    public double hitPercent() {
        return requests() == 0 ? Double.NaN : 100.0 * figures.count(Figures.HITS) / requests();
    }

    /** Returns the percentage of requests that were answered with an error; 0 without a request. */
    public double errorPercent() {
        return requests() == 0 ? 0 : 100.0 * figures.count(Figures.ERRORS) / requests();
    }

    /**
     * Returns the milliseconds within which 99 % of the requests were answered: the upper bound of the histogram's
     * bucket. NaN without a request, infinite above the last bound.
     */
    public double p99Millis() {
        long[] hits = figures.histogram(Figures.HIT_LATENCY);
        long[] misses = figures.histogram(Figures.MISS_LATENCY);
        long all = 0;
        for (int i = 0; i < Figures.BUCKETS; i++) {
            all += hits[i] + misses[i];
        }
        if (all == 0) {
            return Double.NaN;
        }
        long[] bounds = Figures.boundsMicros();
        long sum = 0;
        for (int i = 0; i < bounds.length; i++) {
            sum += hits[i] + misses[i];
            if (sum >= P99 * all) {
                return bounds[i] / 1000.0;
            }
        }
        return Double.POSITIVE_INFINITY;
    }
}
