package io.millrace.proxy.origin;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the choice of the host by weights, loads and keys alone. */
class SelectionPolicyTest {
    private static final int KEYS = 20_000;

    private static Candidates candidates(int... weights) {
        Candidates all = new Candidates(IntStream.range(0, weights.length)
                .mapToLong(i -> KeyHash.of("http://10.0.0." + i + ":8080"))
                .toArray());
        for (int i = 0; i < weights.length; i++) {
            all.weights[i] = weights[i] * Candidates.WEIGHT_UNIT;
        }
        return all;
    }

    private static int choose(SelectionPolicy policy, Candidates all, long key) {
        int chosen = policy.choose(all, key);
        all.last = chosen;
        return chosen;
    }

    private static long key(int number) {
        return KeyHash.of("/page/" + number);
    }

    private static int[] weights(String text) {
        return Arrays.stream(text.split(" ")).mapToInt(Integer::parseInt).toArray();
    }

    @ParameterizedTest
    @CsvSource({"1 1 1, 012012012", "2 1, 010010010", "5 1 1, 0010200", "1, 000", "0 1 1, 1212", "3 0 1, 00200020"})
    void roundRobinGivesEachItsWeightAndSpreadsThemOut(String weights, String order) {
        Candidates all = candidates(weights(weights));
        assertEquals(
                order,
                IntStream.range(0, order.length())
                        .mapToObj(i -> String.valueOf(choose(SelectionPolicy.ROUND_ROBIN, all, 0)))
                        .collect(Collectors.joining()));
    }

    @Test
    void roundRobinOwesNothingToAHostThatWasAway() {
        Candidates all = candidates(1, 1);
        all.weights[1] = 0;
        for (int i = 0; i < 10; i++) {
            assertEquals(0, choose(SelectionPolicy.ROUND_ROBIN, all, 0));
        }
        all.weights[1] = Candidates.WEIGHT_UNIT;
        int[] counts = new int[2];
        for (int i = 0; i < 4; i++) {
            counts[choose(SelectionPolicy.ROUND_ROBIN, all, 0)]++;
        }
        assertArrayEquals(new int[] {2, 2}, counts);
    }

    @ParameterizedTest
    @CsvSource({
        "1 1 1, 3 1 2, 1",
        "1 1 1, 0 0 0, 0",
        "2 1,   2 1,   0",
        "2 1,   3 1,   0",
        "2 1,   4 1,   1",
        "1 0 1, 5 0 6, 0"
    })
    void leastLoadedDividesCurrentRequestsByTheWeight(String weights, String underWay, int chosen) {
        Candidates all = candidates(weights(weights));
        int[] loads = weights(underWay);
        System.arraycopy(loads, 0, all.underWay, 0, loads.length);
        assertEquals(chosen, SelectionPolicy.LEAST_LOADED.choose(all, 0));
    }

    @Test
    void leastLoadedTakesEqualsInTurn() {
        Candidates all = candidates(1, 1, 1);
        assertEquals(
                List.of(0, 1, 2, 0, 1),
                IntStream.range(0, 5)
                        .mapToObj(i -> choose(SelectionPolicy.LEAST_LOADED, all, 0))
                        .toList());
    }

    @ParameterizedTest
    @CsvSource({"1 1 1 1 1", "1 2 3 4", "1 9"})
    void hashesSpreadKeysByWeight(String text) {
        int[] weights = weights(text);
        Candidates all = candidates(weights);
        int[] counts = new int[weights.length];
        for (int i = 0; i < KEYS; i++) {
            counts[SelectionPolicy.CONSISTENT_HASH.choose(all, key(i))]++;
        }
        double unit = (double) KEYS / Arrays.stream(weights).sum();
        for (int i = 0; i < weights.length; i++) {
            double share = counts[i] / (unit * weights[i]);
            assertTrue(share > 0.93 && share < 1.07, Arrays.toString(counts));
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = SelectionPolicy.class,
            names = {"CONSISTENT_HASH", "STICKY"})
    void aHostThatGoesMovesItsOwnKeysAndNoOthersAndGetsThemBack(SelectionPolicy policy) {
        Candidates all = candidates(1, 1, 1, 1, 1);
        List<Integer> before = new ArrayList<>();
        for (int i = 0; i < KEYS; i++) {
            before.add(policy.choose(all, key(i)));
        }
        all.weights[2] = 0;
        int[] heirs = new int[5];
        for (int i = 0; i < KEYS; i++) {
            int now = policy.choose(all, key(i));
            if (before.get(i) == 2) {
                heirs[now]++;
            } else {
                assertEquals(before.get(i), now);
            }
        }
        assertEquals(0, heirs[2]);
        assertEquals(4, Arrays.stream(heirs).filter(count -> count > KEYS / 30).count(), Arrays.toString(heirs));
        all.weights[2] = Candidates.WEIGHT_UNIT;
        for (int i = 0; i < KEYS; i++) {
            assertEquals(before.get(i), policy.choose(all, key(i)));
        }
    }

    @Test
    void aHotKeyLoadsNoHostBeyondAQuarterAboveItsShare() {
        Candidates all = candidates(1, 1, 1, 1);
        for (int total = 1; total <= 400; total++) {
            int chosen = SelectionPolicy.CONSISTENT_HASH.choose(all, key(7));
            all.underWay[chosen]++;
            int most = Arrays.stream(all.underWay).max().orElseThrow();
            assertTrue(most <= Math.ceil(1.25 * total / 4), total + ": " + Arrays.toString(all.underWay));
        }
        // In order of preference: the first three are full, and the last one receives the rest.
        assertEquals(
                3, Arrays.stream(all.underWay).filter(count -> count == 125).count());
    }

    @Test
    void aKeyGoesWhereItBelongsWhileThatHostHasRoom() {
        Candidates all = candidates(1, 1, 1, 1);
        int home = SelectionPolicy.CONSISTENT_HASH.choose(all, key(3));
        Arrays.fill(all.underWay, 10);
        assertEquals(home, SelectionPolicy.CONSISTENT_HASH.choose(all, key(3)));
    }

    @Test
    void theHashOfAHostIsTheSameOnEveryProxy() {
        assertEquals(6891326559597385996L, KeyHash.of("http://10.0.0.1:8080"));
    }

    @Test
    void theFirstThatIsLiveGetsAll() {
        Candidates all = candidates(0, 1, 1);
        assertEquals(1, choose(SelectionPolicy.FIRST_LIVE, all, 0));
        all.weights[0] = Candidates.WEIGHT_UNIT;
        assertEquals(0, choose(SelectionPolicy.FIRST_LIVE, all, 0));
    }

    @Test
    void latchedStaysUntilItsHostIsAway() {
        Candidates all = candidates(1, 1, 1);
        assertEquals(0, choose(SelectionPolicy.LATCHED, all, 0));
        all.weights[0] = 0;
        assertEquals(1, choose(SelectionPolicy.LATCHED, all, 0));
        all.weights[0] = Candidates.WEIGHT_UNIT;
        assertEquals(1, choose(SelectionPolicy.LATCHED, all, 0));
    }

    @ParameterizedTest
    @EnumSource(SelectionPolicy.class)
    void noHostIsChosenIfNoneIsPermitted(SelectionPolicy policy) {
        assertEquals(-1, policy.choose(candidates(0, 0), 5));
    }
}
