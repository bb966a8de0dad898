package io.millrace.proxy.dns;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The target of an SRV record (RFC 2782). Immutable.
 *
 * @param priority priority; the lowest value is tried first
 * @param weight share of the requests among the targets of one priority; 0 for very few
 * @param port port number, 0 to 65535
 * @param host lower-case name without the trailing dot; empty if the service does not exist
 */
public record ServiceTarget(int priority, int weight, int port, String host) {

    /** Returns true if the record declares that the service does not exist (RFC 2782, "Target"). */
    public boolean isNone() {
        return host.isEmpty();
    }

    /**
     * Returns all targets in the order to be tried. They are ordered by priority, and within a priority randomly in
     * proportion to the weight.
     */
    static List<ServiceTarget> inTryOrder(List<ServiceTarget> all, SplittableRandom random) {
        if (all.size() < 2) {
            return all;
        }
        List<ServiceTarget> left = new ArrayList<>(all);
        List<ServiceTarget> order = new ArrayList<>(all.size());
        while (!left.isEmpty()) {
            int priority = left.stream().mapToInt(ServiceTarget::priority).min().orElseThrow();
            order.add(left.remove(randomIndex(left, priority, random)));
        }
        return order;
    }

    /**
     * Returns the index of a random target with this priority (RFC 2782). A random number up to the sum of the weights
     * selects the target. The number 0 selects a target of weight 0; it is drawn only if such a target exists.
     */
    private static int randomIndex(List<ServiceTarget> all, int priority, SplittableRandom random) {
        int sum = 0;
        int zeroWeights = 0;
        for (ServiceTarget each : all) {
            if (each.priority == priority) {
                sum += each.weight;
                zeroWeights += each.weight == 0 ? 1 : 0;
            }
        }
        int number = zeroWeights > 0 ? random.nextInt(sum + 1) : 1 + random.nextInt(sum);
        int left = number > 0 ? number : 1 + random.nextInt(zeroWeights);
        for (int i = 0; i < all.size(); i++) {
            ServiceTarget each = all.get(i);
            if (each.priority == priority && (number > 0 || each.weight == 0)) {
                left -= number > 0 ? each.weight : 1;
                if (left <= 0) {
                    return i;
                }
            }
        }
        throw new IllegalStateException("no target has the priority " + priority);
    }
}
