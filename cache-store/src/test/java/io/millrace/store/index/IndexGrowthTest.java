package io.millrace.store.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.io.FaultyFileIo;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IndexGrowthTest {
    private static final Path DIRECTORY = Path.of("/v");
    private static final Path NEW_FILE = DIRECTORY.resolve("index.new");
    private static final UUID VOLUME = new UUID(1, 2);
    /** So many bytes that copying them takes several steps of a put. */
    private static final int AUXILIARY = 200_000;

    private static MappedIndex create(FaultyFileIo io) throws IOException {
        MappedIndex index = MappedIndex.create(io, DIRECTORY, VOLUME, AUXILIARY, 10);
        index.finishRebuild();
        return index;
    }

    private static long location(long number) {
        return Location.pack((int) number, 64, 128, 7);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aKillAtAnyMomentOfGrowthLeavesAllThatWasPut(boolean background) throws IOException {
        FaultyFileIo io = new FaultyFileIo();
        MappedIndex index = create(io);
        Random random = new Random(7);
        Map<Long, Long> model = new HashMap<>();
        long before = index.capacity();
        int between = 0;
        for (int step = 0; index.capacity() < before * 8; step++) {
            long low = random.nextInt(20_000) * 3L;
            if (random.nextInt(5) == 0) {
                index.remove(-low, low);
                model.remove(low);
            } else {
                index.put(-low, low, location(step), step);
                model.put(low, location(step));
            }
            index.auxiliary(step % (AUXILIARY / 8), step);
            index.appliedSequence(step);
            if (background && step % 3 == 0) {
                index.step();
            }
            boolean growing = io.exists(NEW_FILE);
            between += growing ? 1 : 0;
            if (growing || step % 50 == 0) {
                MappedIndex reopened = MappedIndex.open(io.copy(), DIRECTORY, VOLUME, AUXILIARY);
                assertHolds(model, reopened);
                assertEquals(step, reopened.appliedSequence());
                assertEquals(step, reopened.auxiliary(step % (AUXILIARY / 8)));
            }
        }
        assertTrue(between > 20, "growth was seen " + between + " times only");
        assertEquals(0, index.evictions());
        assertFalse(io.exists(NEW_FILE));
    }

    private static void assertHolds(Map<Long, Long> model, MappedIndex index) {
        assertEquals(model.size(), index.objects());
        model.forEach((low, location) -> assertEquals(location, index.find(-low, low)));
    }

    @Test
    void aKillInTheMiddleOfAnyWriteLeavesAllThatWasPut() throws IOException {
        for (int writes = 0; writes < 60; writes++) {
            FaultyFileIo io = new FaultyFileIo();
            MappedIndex index = create(io);
            io.killAfterWrites(writes, new Random(writes));
            Map<Long, Long> model = new HashMap<>();
            for (long low = 0; low < 3000 && !io.isDead(); low++) {
                index.put(-low, low, location(low), 0);
                if (!io.isDead()) {
                    model.put(low, location(low));
                }
            }
            MappedIndex reopened = MappedIndex.open(io.afterKill(), DIRECTORY, VOLUME, AUXILIARY);
            model.forEach((low, location) -> assertEquals(location, reopened.find(-low, low)));
        }
    }

    @Test
    void withoutRoomOnDiskItEvictsAndGrowsLater() throws IOException {
        FaultyFileIo io = new FaultyFileIo();
        MappedIndex index = create(io);
        io.failWrites(true, DIRECTORY);
        long capacity = index.capacity();
        Random random = new Random(3);
        for (int put = 0; put < 2000; put++) {
            long low = random.nextLong();
            index.put(low, low, location(1), 0);
            assertEquals(location(1), index.find(low, low), "put " + put);
        }
        assertEquals(capacity, index.capacity());
        assertEquals(2000, index.objects() + index.evictions());
        assertTrue(index.objects() > capacity * 3 / 4, "objects " + index.objects());
        io.failWrites(false, DIRECTORY);
        long evictions = index.evictions();
        for (int put = 0; put < 5000; put++) {
            index.put(put, put, location(2), 0);
        }
        assertTrue(index.capacity() > capacity);
        assertTrue(index.evictions() - evictions < 2 * capacity, "it still evicts");
    }

    @Test
    void noPutDoesMoreThanALittle() throws IOException {
        HeapTables tables = new HeapTables(AUXILIARY, true);
        MappedIndex index = HeapTables.index(tables, 10);
        Random random = new Random(11);
        long most = 0;
        long mostBytes = 0;
        while (index.capacity() < 1 << 17) {
            long accesses = tables.accesses();
            long bytes = tables.bytes;
            index.put(random.nextLong(), random.nextLong(), location(1), 0);
            most = Math.max(most, tables.accesses() - accesses);
            mostBytes = Math.max(mostBytes, tables.bytes - bytes);
        }
        assertEquals(0, index.evictions());
        // 8192 words of the auxiliary area, or 64 slots of some words each and their probes.
        assertTrue(most <= 20_000, "accesses " + most);
        assertTrue(mostBytes <= 64 * 1024, "bytes " + mostBytes);
    }

    @Test
    void marksAreCleanedUpWithoutGrowing() throws IOException {
        HeapTables tables = new HeapTables(0, true);
        MappedIndex index = HeapTables.index(tables, 10);
        Random random = new Random(13);
        List<Long> lows = new ArrayList<>();
        for (int step = 0; step < 50_000; step++) {
            long low = random.nextLong();
            index.put(low, low, location(1), 0);
            lows.add(low);
            if (lows.size() > 300) {
                long gone = lows.remove(random.nextInt(lows.size()));
                assertTrue(index.remove(gone, gone));
            }
        }
        assertEquals(1024, index.capacity());
        assertEquals(300, index.objects());
        assertEquals(0, index.evictions());
        lows.forEach(low -> assertEquals(location(1), index.find(low, low)));
    }

    @Test
    void aSegmentGoesWhileTheTableGrows() throws IOException {
        HeapTables tables = new HeapTables(0, true);
        MappedIndex index = HeapTables.index(tables, 7);
        for (int i = 0; i < 97; i++) {
            index.put(i, i * 31L, location(i % 3), 0);
        }
        index.removeSegment(2, 0x107);
        // Of a later use of the segment.
        index.put(1000, 1000, Location.pack(2, 64, 128, 8), 0);
        index.removeSegment(1, 0x108);
        while (index.step()) {
            index.put(2000, 2000, location(0), 0);
        }
        assertTrue(index.capacity() > 128);
        for (int i = 0; i < 97; i++) {
            assertEquals(i % 3 == 2 ? Location.NONE : location(i % 3), index.find(i, i * 31L), "entry " + i);
        }
        assertEquals(Location.pack(2, 64, 128, 8), index.find(1000, 1000));
        int[] seen = {0};
        index.forEach((high, low, location, block, tombstone) -> seen[0]++);
        assertEquals(index.objects(), seen[0]);
    }

    @Test
    void theEndOfARebuildMeetsGrowth() throws IOException {
        HeapTables tables = new HeapTables(0, true);
        MappedIndex index = HeapTables.rebuilding(tables, 14);
        int entries = 0;
        while (tables.bytes == 0) {
            int n = entries++;
            assertTrue(index.putOlder(n, n * 7919L, location(n % 1000), 0, false, n % 2 == 0));
        }
        assertTrue(index.finishRebuildStep());
        // Tombstones are no longer kept.
        index.putTombstone(1, 7919, location(2));
        for (boolean more = true; more; ) {
            more = index.step();
            more |= index.finishRebuildStep();
        }
        assertTrue(index.capacity() > 1 << 14);
        assertEquals(entries / 2 - 1, index.objects());
        int[] seen = {0};
        index.forEach((high, low, location, block, tombstone) -> {
            assertFalse(tombstone);
            seen[0]++;
        });
        assertEquals(entries / 2 - 1, seen[0]);
    }

    @Test
    void readersFindEverythingWhileTheTableGrows() throws Exception {
        MappedIndex index = create(new FaultyFileIo());
        AtomicInteger known = new AtomicInteger();
        AtomicBoolean stop = new AtomicBoolean();
        ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
        List<Thread> readers = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            Thread reader = new Thread(() -> {
                Random random = new Random();
                while (!stop.get()) {
                    int count = known.get();
                    int n = random.nextInt(count + 1) + 1;
                    long found = index.find(-n, n * 31L);
                    if (n <= count && found != location(n % 1000)) {
                        wrong.add("entry " + n + ": " + Location.describe(found));
                    }
                    index.hit(-n, n * 31L);
                }
            });
            readers.add(reader);
            reader.start();
        }
        for (int n = 1; n <= 100_000; n++) {
            index.put(-n, n * 31L, location(n % 1000), 0);
            known.set(n);
            // Other entries are added and removed.
            index.put(n, n * 31L, location(1), 0);
            index.remove(n - 100, (n - 100) * 31L);
            if (n % 16 == 0) {
                index.step();
            }
        }
        stop.set(true);
        for (Thread reader : readers) {
            reader.join();
        }
        assertTrue(wrong.isEmpty(), () -> wrong.size() + " wrong, the first " + wrong.peek());
        assertTrue(index.capacity() >= 1 << 17);
    }
}
