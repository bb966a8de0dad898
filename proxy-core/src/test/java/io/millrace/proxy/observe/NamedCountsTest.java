package io.millrace.proxy.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

final class NamedCountsTest {
    private static Map<String, Long> sums(NamedCounts... counts) {
        Map<String, Long> sums = new TreeMap<>();
        for (NamedCounts each : counts) {
            each.addTo(sums);
        }
        return sums;
    }

    @Test
    void countsOfSeveralLoopsAddUp() {
        NamedCounts one = new NamedCounts();
        NamedCounts other = new NamedCounts();
        one.increment("a");
        one.increment("a");
        other.increment("a");
        other.increment("b");
        assertEquals(Map.of("a", 3L, "b", 1L), sums(one, other));
    }

    @Test
    void namesBeyondTheLimitAreCountedTogether() {
        NamedCounts counts = new NamedCounts();
        for (int i = 0; i < NamedCounts.NAMES_MAX + 5; i++) {
            counts.increment("name" + i);
        }
        counts.increment("name0");
        Map<String, Long> sums = sums(counts);
        assertEquals(NamedCounts.NAMES_MAX + 1, sums.size());
        assertEquals(5, sums.get(NamedCounts.OTHERS));
        assertEquals(2, sums.get("name0"));
    }
}
