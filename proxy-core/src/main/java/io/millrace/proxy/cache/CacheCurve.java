package io.millrace.proxy.cache;

import java.util.List;

/**
 * The estimated hit ratios of other sizes of the RAM tier. Immutable.
 *
 * @param isReady whether the ratios are usable; the simulation begins with empty caches, so that its first ratios are
 *     too low
 * @param ramBytes present size of the RAM tier
 * @param sampleRate share of the cache keys that is simulated
 * @param requests estimated number of recent requests that the ratios describe
 * @param sizes the simulated sizes, in ascending order
 * @param hosts the hosts with the most requests
 */
public record CacheCurve(
        boolean isReady, long ramBytes, double sampleRate, long requests, List<Size> sizes, List<Host> hosts) {
    /** Copies the lists. */
    public CacheCurve {
        sizes = List.copyOf(sizes);
        hosts = List.copyOf(hosts);
    }

    /**
     * One simulated size of the RAM tier.
     *
     * @param scale multiple of the present size
     * @param ramBytes size of the RAM tier
     * @param hitRatio share of the requests that are hits, from 0 to 1
     * @param byteHitRatio share of the bytes that are from hits, from 0 to 1
     */
    public record Size(double scale, long ramBytes, double hitRatio, double byteHitRatio) {}

    /**
     * The hit ratios of one host. All hosts share the RAM tier.
     *
     * @param requests estimated number of its requests
     * @param hitRatios share of its requests that are hits, for each of the sizes
     */
    public record Host(String name, long requests, List<Double> hitRatios) {
        /** Copies the list. */
        public Host {
            hitRatios = List.copyOf(hitRatios);
        }
    }
}
