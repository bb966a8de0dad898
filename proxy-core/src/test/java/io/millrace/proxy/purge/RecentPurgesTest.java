package io.millrace.proxy.purge;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RecentPurgesTest {
    private static final byte[] KEY = key("http://h/fetched");

    private final RecentPurges purges = new RecentPurges();

    @Test
    void aKeyThatWasPurgedSinceIsTold() {
        PurgePoint before = purges.latest(RecentPurges.hash(KEY));
        assertFalse(purges.isAnySince(RecentPurges.hash(KEY), before));

        purges.add(KEY);

        assertTrue(purges.isAnySince(RecentPurges.hash(KEY), before));
        assertFalse(purges.isAnySince(RecentPurges.hash(KEY), purges.latest(RecentPurges.hash(KEY))));
    }

    @Test
    void purgesOfOtherKeysKeepNothingFromBeingStored() {
        PurgePoint before = purges.latest(RecentPurges.hash(KEY));

        // Some three of them fall into the key's slot.
        for (int other = 0; other < 3 * RecentPurges.SLOTS; other++) {
            purges.add(key("http://h/config/" + other));
        }

        assertFalse(purges.isAnySince(RecentPurges.hash(KEY), before));
    }

    @Test
    void aPurgeIsFoundBehindLaterOnesInItsSlot() {
        PurgePoint before = purges.latest(RecentPurges.hash(KEY));
        purges.add(KEY);
        for (byte[] other : inTheSlotOfKey(RecentPurges.KEPT - 1)) {
            purges.add(other);
        }

        assertTrue(purges.isAnySince(RecentPurges.hash(KEY), before));
    }

    @Test
    void whatIsNoLongerKnownCountsAsPurged() {
        PurgePoint before = purges.latest(RecentPurges.hash(KEY));
        List<byte[]> others = inTheSlotOfKey(RecentPurges.KEPT + 1);
        others.subList(0, RecentPurges.KEPT - 1).forEach(purges::add);
        assertFalse(purges.isAnySince(RecentPurges.hash(KEY), before));

        others.subList(RecentPurges.KEPT - 1, others.size()).forEach(purges::add);

        assertTrue(purges.isAnySince(RecentPurges.hash(KEY), before));
        assertFalse(purges.isAnySince(RecentPurges.hash(KEY), purges.latest(RecentPurges.hash(KEY))));
    }

    @Test
    void noPurgeIsMissedWhereManyThreadsPurgeInOneSlot() {
        List<byte[]> others = inTheSlotOfKey(4 * RecentPurges.KEPT);
        List<CompletableFuture<Void>> threads = IntStream.range(0, 4)
                .mapToObj(thread -> CompletableFuture.runAsync(() -> {
                    byte[] own = others.get(thread);
                    for (int round = 0; round < 20_000; round++) {
                        PurgePoint before = purges.latest(RecentPurges.hash(own));
                        purges.add(own);
                        assertTrue(purges.isAnySince(RecentPurges.hash(own), before));
                        purges.add(others.get(4 + round % (others.size() - 4)));
                        assertTrue(purges.isAnySince(RecentPurges.hash(own), before));
                    }
                }))
                .toList();
        threads.forEach(CompletableFuture::join);
    }

    private static List<byte[]> inTheSlotOfKey(int count) {
        RecentPurges alone = new RecentPurges();
        alone.add(KEY);
        PurgePoint mark = alone.latest(RecentPurges.hash(KEY));
        return IntStream.iterate(0, i -> i + 1)
                .mapToObj(i -> key("http://h/other/" + i))
                .filter(key -> alone.latest(RecentPurges.hash(key)).equals(mark)
                        && Arrays.hashCode(key) != Arrays.hashCode(KEY))
                .limit(count)
                .toList();
    }

    private static byte[] key(String url) {
        return url.getBytes(US_ASCII);
    }
}
