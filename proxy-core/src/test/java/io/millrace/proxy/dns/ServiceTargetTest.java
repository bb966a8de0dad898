package io.millrace.proxy.dns;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Tests the order of RFC 2782. */
class ServiceTargetTest {
    private static final int DRAWS = 10_000;

    private final SplittableRandom random = new SplittableRandom(7);

    private static ServiceTarget target(int priority, int weight, String host) {
        return new ServiceTarget(priority, weight, 80, host);
    }

    private Map<String, Integer> firsts(List<ServiceTarget> all) {
        Map<String, Integer> firsts = new HashMap<>();
        for (int i = 0; i < DRAWS; i++) {
            List<ServiceTarget> order = ServiceTarget.inTryOrder(all, random);
            assertEquals(all.size(), new ArrayList<>(order).stream().distinct().count());
            firsts.merge(order.get(0).host(), 1, Integer::sum);
        }
        return firsts;
    }

    @Test
    void rfc2782_theLowestPriorityComesFirst() {
        List<ServiceTarget> order =
                ServiceTarget.inTryOrder(List.of(target(20, 9, "c"), target(0, 0, "a"), target(10, 9, "b")), random);
        assertEquals(
                List.of("a", "b", "c"), order.stream().map(ServiceTarget::host).toList());
    }

    @Test
    void rfc2782_amongEqualsEachIsFirstByItsWeight() {
        Map<String, Integer> firsts = firsts(List.of(target(1, 3, "a"), target(1, 1, "b"), target(2, 100, "c")));
        assertEquals(2, firsts.size());
        assertEquals(0.75, firsts.get("a") / (double) DRAWS, 0.03);
    }

    @Test
    void rfc2782_oneWithoutWeightIsRarelyFirst_andAllAreEqualWhereNoneHasOne() {
        Map<String, Integer> firsts = firsts(List.of(target(1, 99, "a"), target(1, 0, "b")));
        assertEquals(0.01, firsts.get("b") / (double) DRAWS, 0.005);
        Map<String, Integer> equals = firsts(List.of(target(1, 0, "a"), target(1, 0, "b")));
        assertEquals(0.5, equals.get("b") / (double) DRAWS, 0.03);
    }
}
