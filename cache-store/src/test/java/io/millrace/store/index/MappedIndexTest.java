package io.millrace.store.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
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
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MappedIndexTest {
    private static final Path DIRECTORY = Path.of("/v");
    private static final UUID VOLUME = new UUID(1, 2);
    private static final int AUXILIARY = 104;

    private static MappedIndex create(FaultyFileIo io, long entries) throws IOException {
        MappedIndex index = MappedIndex.create(io, DIRECTORY, VOLUME, AUXILIARY, entries);
        index.finishRebuild();
        return index;
    }

    private static long location(int segment) {
        return Location.pack(segment, 64, 128, 7);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void agreesWithAMapAfterRandomOperations(long seed) throws IOException {
        Random random = new Random(seed);
        MappedIndex index = create(new FaultyFileIo(), 10);
        Map<Long, Long> model = new HashMap<>();
        for (int step = 0; step < 60_000; step++) {
            // Few low hashes, so that probe sequences are long and overlap.
            long low = random.nextInt(step < 30_000 ? 200 : 3000) * 3L;
            long high = -low;
            switch (random.nextInt(4)) {
                case 0, 1 -> {
                    long location = location(random.nextInt(1000));
                    index.put(high, low, location, step);
                    model.put(low, location);
                }
                case 2 -> assertEquals(model.remove(low) != null, index.remove(high, low));
                default -> assertEquals(model.getOrDefault(low, Location.NONE), index.find(high, low), "step " + step);
            }
        }
        assertEquals(model.size(), index.objects());
        model.forEach((low, location) -> assertEquals(location, index.find(-low, low)));
        List<Long> seen = new ArrayList<>();
        index.forEach((high, low, location, block, tombstone) -> seen.add(low));
        assertEquals(model.size(), seen.size());
    }

    @Test
    void growsAndStaysFound() throws IOException {
        FaultyFileIo io = new FaultyFileIo();
        MappedIndex index = create(io, 10);
        index.auxiliary(12, 4711);
        index.appliedSequence(99);
        Random random = new Random(5);
        long[] lows = random.longs(5000).toArray();
        for (long low : lows) {
            index.put(low, low, location(3), 1);
        }
        assertTrue(index.capacity() >= 8192, "the table did not grow");
        for (long low : lows) {
            assertEquals(location(3), index.find(low, low));
        }
        assertEquals(4711, index.auxiliary(12));
        assertEquals(99, index.appliedSequence());
        index = MappedIndex.open(io.afterKill(), DIRECTORY, VOLUME, AUXILIARY);
        assertEquals(5000, index.objects());
        assertEquals(4711, index.auxiliary(12));
    }

    @Test
    void tombstonesHideOlderRecordsUntilTheRebuildIsThrough() throws IOException {
        MappedIndex index = MappedIndex.create(new FaultyFileIo(), DIRECTORY, VOLUME, AUXILIARY, 10);
        index.putTombstone(1, 1, location(5));
        index.putOlder(1, 1, location(4), 0, false, false);
        index.putOlder(2, 2, location(4), 0, false, false);
        index.putOlder(2, 2, location(3), 0, false, false);
        index.maskRecords(3, 3);
        index.putOlder(3, 3, location(1), 0, false, false);
        assertEquals(Location.NONE, index.find(1, 1));
        assertEquals(Location.NONE, index.find(3, 3));
        assertEquals(location(4), index.find(2, 2));
        assertEquals(1, index.objects());
        index.finishRebuild();
        assertEquals(Location.NONE, index.find(1, 1));
        assertEquals(1, index.objects());
        assertFalse(index.remove(1, 1));
    }

    @Test
    void isNotTrustedWhenIncompleteDamagedOrOfAnotherBoot() throws IOException {
        FaultyFileIo building = new FaultyFileIo();
        MappedIndex.create(building, DIRECTORY, VOLUME, AUXILIARY, 10);
        assertUnusable(building.afterKill(), "not built completely");
        FaultyFileIo io = new FaultyFileIo();
        create(io, 10);
        MappedIndex.open(io.afterKill(), DIRECTORY, VOLUME, AUXILIARY);
        assertUnusable(io.afterReboot(), "before the machine stopped");
        FaultyFileIo damaged = io.afterKill();
        damaged.flipBit(DIRECTORY.resolve(MappedIndex.FILE_NAME), 8 * 20);
        assertUnusable(damaged, "CRC32C");
        FaultyFileIo cut = io.afterKill();
        cut.truncate(DIRECTORY.resolve(MappedIndex.FILE_NAME), 5000);
        assertUnusable(cut, "length");
        FaultyFileIo clean = new FaultyFileIo();
        create(clean, 10).close();
        MappedIndex.open(clean.afterReboot(), DIRECTORY, VOLUME, AUXILIARY);
        assertThrows(
                IndexUnusableException.class, () -> MappedIndex.open(new FaultyFileIo(), DIRECTORY, VOLUME, AUXILIARY));
    }

    private static void assertUnusable(FaultyFileIo io, String why) {
        IndexUnusableException e =
                assertThrows(IndexUnusableException.class, () -> MappedIndex.open(io, DIRECTORY, VOLUME, AUXILIARY));
        assertTrue(e.getMessage().contains(why), e::toString);
    }

    @Test
    void readersSeeWholeEntriesWhileOthersChange() throws Exception {
        MappedIndex index = create(new FaultyFileIo(), 10);
        for (int stays = 0; stays < 50; stays++) {
            index.put(stays, stays * 7L, location(stays), 0);
        }
        AtomicBoolean stop = new AtomicBoolean();
        List<String> wrong = java.util.Collections.synchronizedList(new ArrayList<>());
        Thread reader = new Thread(() -> {
            while (!stop.get()) {
                for (int stays = 0; stays < 50; stays++) {
                    if (index.find(stays, stays * 7L) != location(stays)) {
                        wrong.add("entry " + stays);
                    }
                    long other = index.find(1000 + stays, stays * 7L + 1);
                    if (other != Location.NONE && other != location(500 + stays)) {
                        wrong.add(Location.describe(other));
                    }
                }
            }
        });
        reader.start();
        Random random = new Random(1);
        for (int step = 0; step < 300_000; step++) {
            int goes = random.nextInt(50);
            if (random.nextBoolean()) {
                index.put(1000 + goes, goes * 7L + 1, location(500 + goes), 0);
            } else {
                index.remove(1000 + goes, goes * 7L + 1);
            }
        }
        stop.set(true);
        reader.join();
        assertEquals(List.of(), wrong);
    }

    @Test
    void countsHitsUpToTheLargest() throws IOException {
        MappedIndex index = create(new FaultyFileIo(), 10);
        index.hit(1, 1);
        assertEquals(0, index.hits(1, 1));
        index.put(1, 1, location(1), -1);
        for (int hits = 1; hits < 6; hits++) {
            index.hit(1, 1);
            assertEquals(Math.min(hits, MappedIndex.HITS_MAX), index.hits(1, 1));
        }
        index.put(1, 1, location(2), -1);
        assertEquals(0, index.hits(1, 1));
        index.put(1, 1, location(2), -1, 2);
        index.putBlock(2, 2, location(3), 100);
        assertEquals(2, index.hits(1, 1));
        assertEquals(MappedIndex.HITS_MAX, index.hits(2, 2));
        assertEquals(1, index.objects());
        for (int i = 0; i < 1000; i++) {
            index.put(3, 3 + i, location(1), 0);
        }
        assertEquals(2, index.hits(1, 1));
        assertEquals(location(2), index.find(1, 1));
    }

    @Test
    void locationsKeepTheirParts() {
        long location = Location.pack(Location.SEGMENTS_MAX - 1, Location.SEGMENT_BYTES_MAX - 64, 640, 0x1234);
        assertEquals(Location.SEGMENTS_MAX - 1, Location.segment(location));
        assertEquals(Location.SEGMENT_BYTES_MAX - 64, Location.offset(location));
        assertEquals(640, Location.lengthHint(location));
        assertEquals(0x34, Location.tag(location));
        assertEquals(
                Location.LENGTH_UNITS_MAX * Location.UNIT_BYTES, Location.lengthHint(Location.pack(0, 64, 1 << 20, 0)));
    }
}
