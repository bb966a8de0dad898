package io.millrace.proxy.admin.cache;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Source of the estimated hit ratios of other sizes of the RAM tier. Thread-safe. */
@FunctionalInterface
public interface CurveSource {
    /** Returns the estimate, at most two seconds old; null if {@code cache.curve} is false or there is no RAM tier. */
    @Nullable
    CurveView curve();

    /**
     * The estimate. Immutable.
     *
     * @param notReadyReason reason why the figures are not usable yet: {@code requests} (too few simulated requests),
     *     {@code fill} (the simulated cache of the present size is not full) or {@code change} (the gains of larger
     *     sizes still change); empty if the figures are usable
     * @param sinceSeconds time at which the simulation began, in seconds since 1970
     * @param requestsTotal requests since the simulation began
     * @param ramHitRatio measured share of the recent requests that were hits in the RAM tier
     * @param policy eviction policy of the RAM tier: {@code w-tinylfu} or {@code lru}
     * @param ramBytes present size of the RAM tier
     * @param sampleRate share of the keys that is simulated
     * @param sampledKeys number of keys in the simulation
     * @param requests estimated number of recent requests that the ratios describe
     * @param lost sampled requests since the start of the simulation that were not simulated, because their queue was
     *     full
     * @param sizes the simulated sizes, in ascending order
     * @param hosts the hosts with the most requests
     */
    record CurveView(
            String notReadyReason,
            long sinceSeconds,
            long requestsTotal,
            double ramHitRatio,
            String policy,
            long ramBytes,
            double sampleRate,
            int sampledKeys,
            long requests,
            long lost,
            List<Size> sizes,
            List<Host> hosts) {
        /** Returns whether the figures are usable. */
        public boolean isReady() {
            return notReadyReason.isEmpty();
        }
    }

    /** Hit ratios of one policy, by requests and by bytes, from 0 to 1. */
    record Ratio(double requests, double bytes) {}

    /**
     * One simulated size.
     *
     * @param scale multiple of the present size
     * @param current hit ratios with W-TinyLFU, the policy of the RAM tier unless {@code policy} is {@code lru}
     */
    record Size(double scale, long ramBytes, Ratio current, Ratio lru, Ratio s3Fifo) {}

    /**
     * One host, which shares the RAM tier with all others.
     *
     * @param hitRatios share of its requests that are hits, for each of the sizes
     */
    record Host(String name, long requests, List<Double> hitRatios) {
        /** Copies the list. */
        public Host {
            hitRatios = List.copyOf(hitRatios);
        }
    }
}
