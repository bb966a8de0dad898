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
     * Returns all targets in the order to be tried: by priority, and randomly in proportion to the weight within a
     * priority.
     */
    static List<ServiceTarget> inTurn(List<ServiceTarget> all, SplittableRandom random) {
        if (all.size() < 2) {
            return all;
        }
        List<ServiceTarget> left = new ArrayList<>(all);
        List<ServiceTarget> order = new ArrayList<>(all.size());
        while (!left.isEmpty()) {
            int priority = left.stream().mapToInt(ServiceTarget::priority).min().orElseThrow();
            order.add(left.remove(chosen(left, priority, random)));
        }
        return order;
    }

    /**
     * Returns the index of a random target, by a number up to the sum of the weights (RFC 2782). The number 0 selects
     * targets of weight 0, and is drawn only if there are any.
     */
    private static int chosen(List<ServiceTarget> all, int priority, SplittableRandom random) {
        int sum = 0;
        int weightless = 0;
        for (ServiceTarget each : all) {
            if (each.priority == priority) {
                sum += each.weight;
                weightless += each.weight == 0 ? 1 : 0;
            }
        }
        int number = weightless > 0 ? random.nextInt(sum + 1) : 1 + random.nextInt(sum);
        int left = number > 0 ? number : 1 + random.nextInt(weightless);
        for (int i = 0; i < all.size(); i++) {
            ServiceTarget each = all.get(i);
            if (each.priority == priority && (number > 0 || each.weight == 0)) {
                left -= number > 0 ? each.weight : 1;
                if (left <= 0) {
                    return i;
                }
            }
        }
        throw new IllegalStateException("none of priority " + priority);
    }
}
