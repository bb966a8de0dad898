package io.millrace.store.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the policy of the RAM tier: evictions, the tier that admits every entry, and the change between both. */
class EvictionPolicyTest {
    private static final int BODY_BYTES = 1000;
    private static final int ENTRIES = 100;
    /** Weight of an entry with a key of 8 bytes and without a body. */
    private static final int WEIGHT = 264;

    private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true);
    private final int entryBytes = entryBytes();
    private final RamTier<RamEntry> tier = new RamTier<>((long) ENTRIES * entryBytes, Runnable::run);

    private int entryBytes() {
        RamEntry sample = entry(0);
        int bytes = sample.weight();
        sample.releaseEntry();
        return bytes;
    }

    private RamEntry entry(int key) {
        return new RamEntry(
                bytes(key), hash(key), allocator.directBuffer(BODY_BYTES).writeZero(BODY_BYTES), 10) {};
    }

    private static byte[] bytes(int key) {
        return String.format("%08d", key).getBytes(StandardCharsets.US_ASCII);
    }

    private static long hash(int key) {
        return (key + 1) * 0x9E37_79B9_7F4A_7C15L;
    }

    private void put(int key) {
        RamEntry entry = entry(key);
        tier.put(entry);
        entry.releaseEntry();
    }

    private boolean hit(int key) {
        RamEntry found = tier.get(hash(key), bytes(key));
        if (found != null) {
            found.releaseEntry();
        }
        return found != null;
    }

    private boolean isInRam(int key) {
        return tier.peek(hash(key), bytes(key)) != null;
    }

    /** Fills the tier with entries that are requested three times each. */
    private void fillWithRequestedEntries() {
        for (int key = 0; key < ENTRIES; key++) {
            put(key);
        }
        for (int i = 0; i < 3; i++) {
            for (int key = 0; key < ENTRIES; key++) {
                hit(key);
            }
        }
        tier.drainHits();
    }

    private int newEntriesKept() {
        int kept = 0;
        for (int key = ENTRIES; key < ENTRIES + ENTRIES / 2; key++) {
            put(key);
            tier.drainHits();
            kept += isInRam(key) ? 1 : 0;
        }
        int later = 0;
        for (int key = ENTRIES; key < ENTRIES + ENTRIES / 2; key++) {
            later += isInRam(key) ? 1 : 0;
        }
        return Math.min(kept, later);
    }

    @AfterEach
    void givesEveryBufferBack() {
        tier.clear();
        assertEquals(0, tier.bytes());
        assertEquals(0, tier.entries());
        assertEquals(0, allocator.metric().usedDirectMemory());
    }

    @Test
    void byFrequency_newEntriesDoNotDisplaceRequestedOnes() {
        fillWithRequestedEntries();
        assertTrue(newEntriesKept() < ENTRIES / 4);
    }

    @Test
    void admittingAll_newEntriesDisplaceTheLeastRecentlyRequestedOnes() {
        tier.admitAll(true);
        fillWithRequestedEntries();
        assertEquals(ENTRIES / 2, newEntriesKept());
        for (int key = 0; key < ENTRIES; key++) {
            assertEquals(key >= ENTRIES / 2, isInRam(key), "key " + key);
        }
        assertEquals(ENTRIES / 2, tier.evictions());
    }

    @Test
    void aChangeAppliesToTheEntriesInRam() {
        fillWithRequestedEntries();
        tier.admitAll(true);
        assertEquals(ENTRIES, tier.entries());
        assertEquals(ENTRIES / 2, newEntriesKept());
        assertEquals(ENTRIES, tier.entries());

        tier.admitAll(false);
        fillWithRequestedEntries();
        assertTrue(newEntriesKept() < ENTRIES / 4);
        assertTrue(tier.bytes() <= tier.bytesMax());
        tier.admitAll(true);
        assertEquals(ENTRIES / 2, newEntriesKept());
    }

    /** Entries that were protected before the change are in another list than new ones. */
    @Test
    void afterAChangeToAdmittingAll_aRequestedEntryIsTheNewest() {
        fillWithRequestedEntries();
        tier.admitAll(true);
        newEntriesKept();
        for (int key = ENTRIES - 10; key < ENTRIES; key++) {
            assertTrue(hit(key));
        }
        for (int key = 2 * ENTRIES; key < 2 * ENTRIES + ENTRIES / 2 + 30; key++) {
            put(key);
            tier.drainHits();
        }
        for (int key = ENTRIES / 2; key < ENTRIES * 3 / 2; key++) {
            boolean requested = key >= ENTRIES - 10 && key < ENTRIES;
            assertEquals(requested || key >= ENTRIES + 40, isInRam(key), "key " + key);
        }
    }

    @Test
    void withoutHousekeeping_theThreadThatAddsEvicts() {
        RamTier<RamEntry> stopped = new RamTier<>((long) ENTRIES * entryBytes, task -> {
            throw new RejectedExecutionException();
        });
        for (int key = 0; key < 2 * ENTRIES; key++) {
            RamEntry entry = entry(key);
            stopped.put(entry);
            entry.releaseEntry();
        }
        assertEquals(ENTRIES, stopped.entries());
        stopped.clear();
    }

    @Test
    void aFailedEvictionDoesNotKeepTheOtherEntries() {
        EntrySlots slots = new EntrySlots();
        List<Integer> evicted = new ArrayList<>();
        EvictionPolicy policy = new EvictionPolicy(
                slots,
                100L * WEIGHT,
                100,
                slot -> {
                    evicted.add(slot);
                    if (evicted.size() % 7 == 1) {
                        throw new IllegalStateException("eviction " + evicted.size());
                    }
                },
                Runnable::run);
        for (int key = 0; key < 100; key++) {
            addTo(policy, slots, key);
        }
        IllegalStateException thrown = assertThrows(IllegalStateException.class, () -> policy.limit(20L * WEIGHT));
        assertEquals("eviction 1", thrown.getMessage());
        assertEquals(80, evicted.size());
    }

    @Test
    void heapBytesThatAreAddedLaterCount() {
        tier.admitAll(true);
        for (int key = 0; key < ENTRIES; key++) {
            put(key);
        }
        RamEntry newest = tier.peek(hash(ENTRIES - 1), bytes(ENTRIES - 1));
        tier.addHeapBytes(newest, 10 * entryBytes);
        tier.drainHits();
        assertEquals(ENTRIES - 10, tier.entries());
        assertFalse(isInRam(9));
        assertTrue(isInRam(10));
    }

    /** Compares random operations with a {@link LinkedHashMap} in order of access. */
    @Test
    void evictsInTheOrderOfAModel() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        tier.admitAll(true);
        for (int key = 0; key < ENTRIES; key++) {
            put(-key - 1);
        }
        tier.drainHits();
        Map<Integer, Boolean> model = new LinkedHashMap<>(16, 0.75f, true);
        for (int key = 0; key < ENTRIES; key++) {
            model.put(-key - 1, true);
        }
        for (int i = 0; i < 20_000; i++) {
            int key = random.nextInt(3 * ENTRIES);
            if (random.nextInt(20) == 0) {
                assertEquals(model.remove(key) != null, tier.remove(hash(key), bytes(key)), "seed " + seed);
            } else if (hit(key)) {
                tier.drainHits();
                assertTrue(model.get(key), "seed " + seed);
            } else {
                assertFalse(model.containsKey(key), "seed " + seed);
                put(key);
                tier.drainHits();
                model.put(key, true);
                if (model.size() > ENTRIES) {
                    model.remove(model.keySet().iterator().next());
                }
            }
        }
    }

    /** All entries are protected when the limit shrinks. Otherwise each new entry would be evicted at once. */
    @Test
    void newEntriesCanStayAfterTheLimitHasShrunk() {
        EntrySlots slots = new EntrySlots();
        List<Integer> evicted = new ArrayList<>();
        EvictionPolicy policy = new EvictionPolicy(slots, 100L * WEIGHT, 100, evicted::add, Runnable::run);
        List<RamEntry> first = new ArrayList<>();
        for (int key = 0; key < 100; key++) {
            first.add(addTo(policy, slots, key));
        }
        policy.recordRequests(first.toArray(RamEntry[]::new));
        policy.recordRequests(first.toArray(RamEntry[]::new));
        policy.limit(60L * WEIGHT);
        evicted.clear();
        int kept = 0;
        for (int key = 100; key < 200; key++) {
            RamEntry added = addTo(policy, slots, key);
            for (int request = 0; request < 15; request++) {
                policy.recordRequests(added);
            }
            kept += evicted.contains(added.slot()) ? 0 : 1;
        }
        assertTrue(kept > 50, "kept=" + kept);
    }

    /** Adds an entry of the weight {@link #WEIGHT}. */
    private static RamEntry addTo(EvictionPolicy policy, EntrySlots slots, int key) {
        RamEntry entry = new RamEntry(bytes(key), hash(key), Unpooled.EMPTY_BUFFER, 0) {};
        int slot = slots.allocate();
        slots.set(slot, entry, CompactEntries.NONE, hash(key), EvictionPolicy.ADDING);
        policy.add(slot, 0);
        return entry;
    }

    /** Without the second look at the policy, an entry added during a change would never be evicted. */
    @Test
    void entriesThatAreAddedDuringChangesAreEvictedLater() throws Exception {
        AtomicBoolean ended = new AtomicBoolean();
        List<Thread> writers = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            int from = (i + 1) * 1_000_000;
            Thread writer = new Thread(() -> {
                for (int key = from; !ended.get(); key++) {
                    put(key);
                    hit(key - 20);
                    if (key % 5 == 0) {
                        tier.remove(hash(key - 3), bytes(key - 3));
                    }
                }
            });
            writer.start();
            writers.add(writer);
        }
        for (int i = 0; i < 300; i++) {
            tier.admitAll(i % 2 == 0);
        }
        ended.set(true);
        for (Thread writer : writers) {
            writer.join();
        }
        tier.admitAll(true);
        tier.drainHits();
        assertTrue(tier.bytes() <= tier.bytesMax());
        for (int key = 0; key < ENTRIES; key++) {
            put(key);
        }
        tier.drainHits();
        assertEquals(ENTRIES, tier.entries());
        for (int key = 0; key < ENTRIES; key++) {
            assertTrue(isInRam(key), "key " + key);
        }
    }
}
