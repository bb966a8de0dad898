package io.millrace.acme;

import java.util.ArrayList;
import java.util.List;

/** The limit of orders per name and hour. Stateless. */
final class IssuanceLimit {
    private static final long HOUR_SECONDS = 3600;

    private IssuanceLimit() {}

    /**
     * Returns the earliest time of the next order.
     *
     * @param orders start times of earlier orders, oldest first
     * @param max limit of orders within an hour
     */
    static long next(List<Long> orders, int max, long nowSeconds) {
        List<Long> recent = recent(orders, nowSeconds);
        return recent.size() < max ? nowSeconds : recent.get(recent.size() - max) + HOUR_SECONDS;
    }

    /** Adds an order at {@code nowSeconds}. Returns the start times of all orders within the last hour. */
    static List<Long> with(List<Long> orders, long nowSeconds) {
        List<Long> updated = new ArrayList<>(recent(orders, nowSeconds));
        updated.add(nowSeconds);
        return updated;
    }

    /** Returns the start times within the last hour. Ignores future times, which exist after a clock was set back. */
    private static List<Long> recent(List<Long> orders, long nowSeconds) {
        return orders.stream()
                .filter(each -> each > nowSeconds - HOUR_SECONDS && each <= nowSeconds)
                .toList();
    }
}
