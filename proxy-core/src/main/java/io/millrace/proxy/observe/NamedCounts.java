package io.millrace.proxy.observe;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** Counters by name, for names from the configuration; at most {@value #NAMES_MAX}. Thread-safe. */
final class NamedCounts {
    static final int NAMES_MAX = 1000;

    /** The name under which all names beyond the limit are counted together. */
    static final String OTHERS = "others";

    private final Map<String, LongAdder> counts = new ConcurrentHashMap<>();

    /** Adds one. Allocates only for a new name. */
    void increment(String name) {
        LongAdder count = counts.get(name);
        if (count == null) {
            String countedName = counts.size() < NAMES_MAX ? name : OTHERS;
            count = counts.computeIfAbsent(countedName, n -> new LongAdder());
        }
        count.increment();
    }

    /** Adds all counts to {@code sums}. */
    void addTo(Map<String, Long> sums) {
        counts.forEach((name, count) -> sums.merge(name, count.sum(), Long::sum));
    }
}
