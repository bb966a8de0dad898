package io.millrace.acme;

import java.util.ArrayList;
import java.util.List;

/** Limits the orders for one name within an hour. No state. */
final class IssuanceLimit {
    private static final long HOUR_SECONDS = 3600;

    private IssuanceLimit() {}

    /**
     * The earliest time of another order.
     *
     * @param orders when those before began, the oldest first
     * @param max orders within any hour
     */
    static long next(List<Long> orders, int max, long nowSeconds) {
        List<Long> recent = recent(orders, nowSeconds);
        return recent.size() < max ? nowSeconds : recent.get(recent.size() - max) + HOUR_SECONDS;
    }

    /** The orders with one more; those older than an hour are left out. */
    static List<Long> with(List<Long> orders, long nowSeconds) {
        List<Long> next = new ArrayList<>(recent(orders, nowSeconds));
        next.add(nowSeconds);
        return next;
    }

    /** Orders in the future come from a clock that was set back, and do not count. */
    private static List<Long> recent(List<Long> orders, long nowSeconds) {
        return orders.stream()
                .filter(each -> each > nowSeconds - HOUR_SECONDS && each <= nowSeconds)
                .toList();
    }
}
