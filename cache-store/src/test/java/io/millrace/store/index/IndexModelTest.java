package io.millrace.store.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests random histories against a map: every change, growth in steps, a disk that is sometimes full, and kills. */
class IndexModelTest {
    private static final Path DIRECTORY = Path.of("/v");
    private static final UUID VOLUME = new UUID(1, 2);
    private static final int STEPS = 8000;
    private static final int SEGMENTS = 6;

    private record Entry(long location, int hits) {}

    private final Map<Long, Entry> model = new HashMap<>();
    private Random random = new Random();
    private FaultyFileIo io = new FaultyFileIo();
    private MappedIndex index;
    private int keys;
    private boolean roomOnDisk = true;
    private boolean wasFull;
    private int grown;

    static List<Long> seeds() {
        List<Long> seeds = new ArrayList<>();
        for (long i = 0; i < Long.getLong("index.seeds", 60); i++) {
            seeds.add(Long.getLong("index.seed", 0) + i);
        }
        return seeds;
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void agreesWithAMap(long seed) throws IOException {
        random = new Random(seed);
        keys = 200 << random.nextInt(6);
        index = MappedIndex.create(io, DIRECTORY, VOLUME, 64, 10);
        index.finishRebuild();
        for (int step = 0; step < STEPS; step++) {
            long capacity = index.capacity();
            step();
            grown += index.capacity() > capacity ? 1 : 0;
        }
        assertAgrees();
        assertTrue(wasFull || keys < 2000 || grown > 0, "never grew");
    }

    private long key() {
        // Few home slots, so that probe sequences overlap.
        return random.nextInt(keys) * 7L;
    }

    private static long high(long low) {
        return low ^ 0x1234_5678L;
    }

    private long location() {
        return Location.pack(random.nextInt(SEGMENTS), 64 + 64L * random.nextInt(1000), 128, 7);
    }

    private void step() throws IOException {
        long low = key();
        switch (random.nextInt(20)) {
            case 0, 1, 2, 3, 4, 5 -> put(low);
            case 6, 7, 8 -> assertEquals(model.remove(low) != null, index.remove(high(low), low));
            case 9, 10 -> removeIf(low);
            case 11, 12 -> hit(low);
            case 13, 14 -> index.step();
            case 15, 16, 17 -> {
                Entry entry = model.get(low);
                assertEquals(entry == null ? Location.NONE : entry.location(), index.find(high(low), low));
                assertEquals(entry == null ? 0 : entry.hits(), index.hits(high(low), low));
            }
            case 18 -> {
                if (random.nextInt(40) == 0) {
                    removeSegment();
                }
            }
            default -> rarely();
        }
    }

    private void put(long low) throws IOException {
        Entry entry = new Entry(location(), random.nextInt(4));
        long evictions = index.evictions();
        if (random.nextBoolean()) {
            index.put(high(low), low, entry.location(), -1, entry.hits());
        } else {
            index.putBlock(high(low), low, entry.location(), entry.hits());
        }
        model.put(low, entry);
        if (index.evictions() > evictions) {
            assertTrue(wasFull, "evicted with room to grow");
            assertEquals(evictions + 1, index.evictions());
            int before = model.size();
            model.keySet().removeIf(key -> index.find(high(key), key) == Location.NONE);
            assertEquals(before - 1, model.size());
        }
        assertEquals(entry.location(), index.find(high(low), low));
    }

    private void removeIf(long low) {
        Entry entry = model.get(low);
        long location = entry == null || random.nextBoolean() ? location() : entry.location();
        index.removeIf(high(low), low, location);
        if (entry != null && entry.location() == location) {
            model.remove(low);
        }
    }

    private void hit(long low) {
        index.hit(high(low), low);
        model.computeIfPresent(
                low, (key, entry) -> new Entry(entry.location(), Math.min(MappedIndex.HITS_MAX, entry.hits() + 1)));
    }

    private void removeSegment() throws IOException {
        int segment = random.nextInt(SEGMENTS);
        index.removeSegment(segment, 7);
        model.values().removeIf(entry -> Location.segment(entry.location()) == segment);
        while (index.step()) {
            long low = key();
            long location = Location.pack(segment, 64, 128, 8);
            index.put(high(low), low, location, -1);
            index.remove(high(low), low);
            model.remove(low);
        }
    }

    private void rarely() throws IOException {
        switch (random.nextInt(100)) {
            case 0 -> {
                wasFull = true;
                roomOnDisk = !roomOnDisk;
                io.failWrites(!roomOnDisk, DIRECTORY);
            }
            case 1 -> {
                io = random.nextBoolean() ? io.afterKill() : closed();
                roomOnDisk = true;
                index = MappedIndex.open(io, DIRECTORY, VOLUME, 64);
                assertAgrees();
            }
            default -> index.step();
        }
    }

    private FaultyFileIo closed() throws IOException {
        io.failWrites(false, DIRECTORY);
        index.close();
        return io.afterReboot();
    }

    private void assertAgrees() {
        Map<Long, Long> found = new HashMap<>();
        index.forEach((high, low, location, block, tombstone) -> found.put(low, location));
        Map<Long, Long> expected = new HashMap<>();
        model.forEach((low, entry) -> expected.put(low, entry.location()));
        assertEquals(expected, found);
    }
}
