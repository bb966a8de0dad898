package io.millrace.proxy.dns;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Where a service record says that a service is (RFC 2782). Immutable.
 *
 * @param priority those with the lowest are asked first
 * @param weight the share of the requests among those of one priority; 0 for hardly any
 * @param port 0 to 65535
 * @param host lower-case name without the dot at its end; empty where the record says that there is no such service
 */
public record ServiceTarget(int priority, int weight, int port, String host) {

    /** Whether it says that the service is nowhere (RFC 2782, "Target"). */
    public boolean isNone() {
        return host.isEmpty();
    }

    /** All of them in an order to be asked in: by priority, and by chance in proportion to their weight where that is the same. */
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

    /** By a number up to the sum of the weights (RFC 2782); it is 0, which stands for those of weight 0, only where there are such. */
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
