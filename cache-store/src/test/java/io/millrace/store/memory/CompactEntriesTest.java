package io.millrace.store.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.memory.MemoryBudget.Part;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests entries that a RAM tier keeps without Java objects until their first request. */
class CompactEntriesTest {
    private static final int MIB = 1 << 20;
    private static final byte[] HEAD = "head".getBytes(StandardCharsets.US_ASCII);

    private final MemoryBudget budget = new MemoryBudget(64 * MIB);
    private final BodyPool pool = new BodyPool(null, 64 * MIB);
    private final CountingAllocator allocator = new CountingAllocator(pool, budget, Part.FILLING);
    private final RamTier<Entry> tier =
            RamTier.withCompactEntries(64 * MIB, budget, Runnable::run, allocator, Entry::new);

    /** An entry with a head after its body and a number. */
    private static final class Entry extends RamEntry {
        private final int headLength;
        private final long hashHigh;
        private final long number;

        Entry(byte[] key, long hashHigh, long hashLow, ByteBuf body, int headLength, long number) {
            super(key, hashLow, body, 0);
            this.hashHigh = hashHigh;
            this.headLength = headLength;
            this.number = number;
        }

        Entry(byte[] key, long hashHigh, long hashLow, ByteBuf body, int headLength, ByteBuf details) {
            this(key, hashHigh, hashLow, body, headLength, details.getLong(0));
        }

        @Override
        protected int bytesAfterBody() {
            return headLength;
        }

        @Override
        protected void writeDetails(ByteBuf out) {
            out.writeLong(number);
        }

        @Override
        protected long hashHigh() {
            return hashHigh;
        }

        String content() {
            return body().toString(0, body().writerIndex() + Math.max(0, headLength), StandardCharsets.US_ASCII);
        }
    }

    private static byte[] bytes(String key) {
        return key.getBytes(StandardCharsets.US_ASCII);
    }

    private static long hash(String key) {
        return key.hashCode() * 0x9E37_79B9_7F4A_7C15L;
    }

    private Entry entry(String key, String content, int number) {
        byte[] body = bytes(content);
        ByteBuf buffer = allocator.tryEntryBuffer(body.length + HEAD.length + key.length());
        assertNotNull(buffer);
        buffer.setBytes(0, body).setBytes(body.length, HEAD).writerIndex(body.length);
        return new Entry(bytes(key), ~hash(key), hash(key), buffer, HEAD.length, number);
    }

    private void put(String key, String content, int number) {
        Entry entry = entry(key, content, number);
        tier.put(entry);
        assertTrue(entry.releaseEntry(), "the tier has no reference to the entry");
    }

    private Entry get(String key) {
        return tier.get(hash(key), bytes(key));
    }

    @AfterEach
    void freesEveryBlock() {
        tier.clear();
        assertEquals(0, tier.bytes());
        assertEquals(0, tier.entries());
        assertEquals(0, budget.totalBytes());
        pool.close();
        assertEquals(0, pool.chunkBytes());
    }

    @Test
    void theFirstRequestCreatesTheEntryThatWasPut() {
        put("a", "some text", 7);
        assertTrue(tier.contains(hash("a"), bytes("a")));
        assertFalse(tier.contains(hash("b"), bytes("b")));
        Entry found = get("a");
        assertEquals("some texthead", found.content());
        assertEquals(9, found.body().readableBytes());
        assertEquals(7, found.number);
        assertEquals(~hash("a"), found.hashHigh());
        assertEquals("a", new String(found.keyBytes(), StandardCharsets.US_ASCII));
        Entry again = get("a");
        assertSame(found, again);
        again.releaseEntry();
        found.releaseEntry();
    }

    @Test
    void aCompactEntryCountsTheBytesOfItsBlockAndLittleHeap() {
        put("a", "x".repeat(1000), 1);
        assertEquals(CompactEntries.HEAP_BYTES, budget.bytes(Part.ENTRIES));
        assertEquals(0, budget.bytes(Part.FILLING));
        long block = budget.bytes(Part.RESIDENT);
        assertTrue(block >= 1005 && block < 1100, () -> "block=" + block);
        assertEquals(block + CompactEntries.HEAP_BYTES, tier.bytes());
        get("a").releaseEntry();
        assertEquals(block, budget.bytes(Part.RESIDENT));
        assertTrue(budget.bytes(Part.ENTRIES) > CompactEntries.HEAP_BYTES);
        assertEquals(block + budget.bytes(Part.ENTRIES), tier.bytes());
    }

    @Test
    void theWriterMayUseItsEntryAfterTheTierHasRemovedTheKey() {
        Entry writing = entry("a", "text", 1);
        tier.put(writing);
        assertTrue(tier.remove(hash("a"), bytes("a")));
        assertNull(get("a"));
        assertEquals("texthead", writing.content());
        assertEquals(budget.totalBytes(), budget.bytes(Part.FILLING));
        assertTrue(writing.releaseEntry());
    }

    @Test
    void anEntryInUseOutlivesItsRemoval() {
        put("a", "text", 1);
        Entry using = get("a");
        assertTrue(tier.remove(hash("a"), bytes("a")));
        assertEquals("texthead", using.content());
        assertTrue(using.releaseEntry());
    }

    @Test
    void aReaderKeepsWhatItFound_asLongAsItsSectionLasts() {
        put("a", "first", 1);
        try (RamTier<Entry>.Reader reader = tier.reader()) {
            reader.begin();
            Entry found = reader.get(hash("a"), bytes("a"));
            put("a", "second", 2);
            assertEquals("firsthead", found.content());
            assertEquals(1, tier.unlinkedEntries());
            reader.end();
            tier.resize();
            assertEquals(0, tier.unlinkedEntries());
            reader.begin();
            Entry second = reader.get(hash("a"), bytes("a"));
            assertNotSame(found, second);
            assertEquals("secondhead", second.content());
            reader.end();
        }
    }

    @Test
    void aRequestedEntryIsReplacedByOneWithItsHits() {
        put("a", "first", 1);
        get("a").releaseEntry();
        tier.drainHits();
        Entry second = entry("a", "second", 2);
        tier.put(second);
        assertSame(second, tier.peek(hash("a"), bytes("a")));
        assertFalse(second.releaseEntry(), "the tier keeps this entry, because its key was requested");
        assertEquals(1, tier.hottest(10).requestedAgain());
    }

    @Test
    void listsOfKeysContainCompactEntries() {
        for (int i = 0; i < 100; i++) {
            put("key" + i, "text", i);
        }
        get("key5").releaseEntry();
        tier.drainHits();
        List<String> keys = new ArrayList<>();
        tier.forEachKey(key -> keys.add(new String(key, StandardCharsets.US_ASCII)));
        assertEquals(100, keys.size());
        assertTrue(keys.contains("key99"));
        HottestKeys hottest = tier.hottest(1000);
        assertEquals(100, hottest.count());
        assertEquals(1, hottest.requestedAgain());
        assertEquals(~hash("key5"), hottest.hashes()[0]);
        assertEquals(hash("key5"), hottest.hashes()[1]);
        for (int i = 0; i < hottest.count(); i++) {
            assertEquals(~hottest.hashes()[2 * i + 1], hottest.hashes()[2 * i]);
        }
    }

    @Test
    void aCopyLeavesTheEntryCompact() {
        put("a", "text", 3);
        long heap = budget.bytes(Part.ENTRIES);
        Entry copy = tier.copy(hash("a"), bytes("a"));
        assertEquals("texthead", copy.content());
        assertEquals(heap, budget.bytes(Part.ENTRIES));
        tier.addHeapBytes(copy, 1000);
        assertEquals(heap, budget.bytes(Part.ENTRIES));
        assertFalse(tier.remove(copy), "the copy is not in the tier");
        assertTrue(tier.remove(hash("a"), bytes("a")));
        assertEquals("texthead", copy.content());
        assertTrue(copy.releaseEntry());
        assertNull(tier.copy(hash("a"), bytes("a")));
    }

    @Test
    void aFullTierEvictsCompactEntries() {
        String text = "x".repeat(10_000);
        for (int i = 0; i < 20_000; i++) {
            put("key" + i, text, i);
        }
        assertTrue(tier.bytes() <= tier.bytesMax());
        assertTrue(tier.evictions() > 10_000, () -> "evictions=" + tier.evictions());
        assertEquals(20_000, tier.evictions() + tier.entries());
    }

    @Test
    void threadsMayPutGetReadAndRemoveAtOnce() throws InterruptedException {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        List<Thread> threads = new ArrayList<>();
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        for (int t = 0; t < 4; t++) {
            long own = seed + t;
            Thread thread = new Thread(() -> hammer(new Random(own)));
            thread.setUncaughtExceptionHandler((who, e) -> failure.set(e));
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (failure.get() != null) {
            throw new AssertionError(failure.get());
        }
    }

    /** The content of an entry contains its key, so that a reader would see a block that is in use again. */
    private void hammer(Random random) {
        try (RamTier<Entry>.Reader reader = tier.reader()) {
            for (int i = 0; i < 40_000; i++) {
                String key = "k" + random.nextInt(300);
                switch (random.nextInt(8)) {
                    case 0, 1 -> {
                        Entry entry = entry(key, key + "-".repeat(random.nextInt(500)), i);
                        tier.put(entry);
                        check(key, entry);
                        entry.releaseEntry();
                    }
                    case 2 -> tier.remove(hash(key), bytes(key));
                    case 3, 4, 5 -> {
                        reader.begin();
                        Entry entry = reader.get(hash(key), bytes(key));
                        if (entry != null) {
                            check(key, entry);
                        }
                        reader.end();
                    }
                    default -> {
                        Entry entry = get(key);
                        if (entry != null) {
                            check(key, entry);
                            entry.releaseEntry();
                        }
                    }
                }
            }
        }
    }

    private static void check(String key, Entry entry) {
        String content = entry.content();
        String body = content.substring(0, content.length() - HEAD.length);
        assertEquals(key, body.replace("-", ""));
        assertEquals("head", content.substring(body.length()));
    }
}
