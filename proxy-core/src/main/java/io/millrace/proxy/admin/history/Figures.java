package io.millrace.proxy.admin.history;

import io.millrace.proxy.admin.history.HistorySource.Point;
import java.util.ArrayList;
import java.util.List;

/** Sums and quantiles of recorded figures. Pure functions. */
final class Figures {
    private Figures() {}

    /**
     * Joins the points of short time steps to points of longer steps.
     *
     * @param points in the order of their times
     * @param stepSeconds the longer step
     */
    static List<Point> joined(List<Point> points, long stepSeconds) {
        List<Point> joined = new ArrayList<>();
        for (Point point : points) {
            long at = Math.floorDiv(point.atSeconds(), stepSeconds) * stepSeconds;
            int last = joined.size() - 1;
            if (last >= 0 && joined.get(last).atSeconds() == at) {
                joined.set(last, sum(joined.get(last), point));
            } else {
                joined.add(at == point.atSeconds() ? point : withTime(point, at));
            }
        }
        return joined;
    }

    private static Point withTime(Point point, long at) {
        return new Point(
                at,
                point.measuredMillis(),
                point.requests(),
                point.hits(),
                point.sentBytes(),
                point.originBytes(),
                point.originRequests(),
                point.originFailures(),
                point.errors(),
                point.hitLatency(),
                point.missLatency(),
                point.originLatency());
    }

    private static Point sum(Point a, Point b) {
        return new Point(
                a.atSeconds(),
                a.measuredMillis() + b.measuredMillis(),
                a.requests() + b.requests(),
                a.hits() + b.hits(),
                a.sentBytes() + b.sentBytes(),
                a.originBytes() + b.originBytes(),
                a.originRequests() + b.originRequests(),
                a.originFailures() + b.originFailures(),
                a.errors() + b.errors(),
                sum(a.hitLatency(), b.hitLatency()),
                sum(a.missLatency(), b.missLatency()),
                sum(a.originLatency(), b.originLatency()));
    }

    static long[] sum(long[] a, long[] b) {
        long[] sum = a.clone();
        for (int i = 0; i < sum.length; i++) {
            sum[i] += b[i];
        }
        return sum;
    }

    /**
     * Returns a quantile in microseconds, with linear interpolation within a bucket. For the last bucket, which is
     * unbounded, it returns the lower bound.
     *
     * @param q from 0 to 1
     * @param bounds upper bounds of all buckets but the last, in microseconds
     * @return -1 without observations
     */
    static double quantile(long[] counts, double q, List<Long> bounds) {
        long total = 0;
        for (long count : counts) {
            total += count;
        }
        if (total <= 0) {
            return -1;
        }
        double rank = q * total;
        double counted = 0;
        double lower = 0;
        for (int i = 0; i < bounds.size(); i++) {
            if (counted + counts[i] >= rank && counts[i] > 0) {
                return lower + (bounds.get(i) - lower) * (rank - counted) / counts[i];
            }
            counted += counts[i];
            lower = bounds.get(i);
        }
        return lower;
    }
}
