package io.millrace.store.curve;

import java.util.List;

/**
 * The estimated hit ratios of other sizes of the RAM tier. Immutable.
 *
 * @param stage READY if the ratios are usable; any other stage names the missing condition
 * @param ramBytes present size of the RAM tier, in bytes
 * @param sampleRate share of the keys that is simulated, above 0 and at most 1
 * @param sampledKeys number of keys in the simulation
 * @param requests estimated number of recent requests that the ratios describe; old requests count less
 * @param lost number of sampled requests since the simulation began that were not simulated, because their queue was
 *     full
 * @param points one for each simulated size, in ascending order
 * @param groups the groups with the most requests, in descending order
 */
public record CurveReport(
        Stage stage,
        long ramBytes,
        double sampleRate,
        int sampledKeys,
        long requests,
        long lost,
        List<Point> points,
        List<Group> groups) {

    /** Progress of the simulation. It begins with empty caches, so its first figures are wrong. */
    public enum Stage {
        /** Too few requests were simulated. */
        REQUESTS,
        /** The simulated cache of the present size is not full yet. */
        FILL,
        /**
         * The gains of larger sizes (their hit ratio minus that of the present size) still change by a percentage point
         * or more.
         */
        CHANGE,
        /** The figures are usable. */
        READY
    }

    /**
     * Hit ratios of one policy, from 0 to 1.
     *
     * @param requestHitRatio share of the requests that are hits
     * @param byteHitRatio share of the requested bytes that are hits
     */
    public record Ratio(double requestHitRatio, double byteHitRatio) {}

    /**
     * One simulated size.
     *
     * @param scale multiple of the present size
     * @param bytes the simulated size in bytes
     * @param tinyLfu hit ratios with the policy of the RAM tier
     */
    public record Point(double scale, long bytes, Ratio tinyLfu, Ratio lru, Ratio s3Fifo) {}

    /**
     * The requests of one group of keys, such as a host. All groups share the RAM tier.
     *
     * @param requests estimated number of recent requests
     * @param hitRatios share of the requests that are hits with the policy of the RAM tier, for each of the points
     */
    public record Group(String name, long requests, List<Double> hitRatios) {
        public Group {
            hitRatios = List.copyOf(hitRatios);
        }
    }

    public CurveReport {
        points = List.copyOf(points);
        groups = List.copyOf(groups);
    }
}
