package io.millrace.store.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that blocks of an arena never overlap, that no part of a region is lost, and that all regions are released. */
class BodyArenaTest {
    private static final int REGION = 64 << 10;
    private static final long SEED = Long.getLong("store.seed", System.nanoTime());

    /** Without leak detection, which would record each access. */
    private static final UnpooledByteBufAllocator ALLOCATOR = new UnpooledByteBufAllocator(true, true);

    private static final int THREADS = 4;

    private final Queue<ByteBuf> made = new ConcurrentLinkedQueue<>();
    private final BodyArena arena = new BodyArena(REGION, bytes -> {
        ByteBuf region = ALLOCATOR.directBuffer(bytes, bytes);
        made.add(region);
        return region;
    });

    private record Body(long place, int length, byte mark) {}

    private Body body(int length, byte mark) {
        long place = arena.allocate(length);
        ByteBuf region = arena.region(place);
        for (int i = 0; i < length; i++) {
            region.setByte(BodyArena.offset(place) + i, mark);
        }
        return new Body(place, length, mark);
    }

    private void free(Body body) {
        ByteBuf region = arena.region(body.place);
        for (int i = 0; i < body.length; i++) {
            assertEquals(body.mark, region.getByte(BodyArena.offset(body.place) + i));
        }
        assertTrue(arena.bytes(body.place) >= body.length);
        arena.free(body.place);
    }

    private long unreleased() {
        return made.stream().filter(region -> region.refCnt() > 0).count();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 300, 5_000, 40_000, 100_000})
    void keepsWrittenBytesUntilTheirRelease(int typical) {
        System.out.println("store.seed=" + SEED);
        Random random = new Random(SEED);
        List<Body> live = new ArrayList<>();
        for (int i = 0; i < 3_000; i++) {
            if (live.size() > 40 || (!live.isEmpty() && random.nextInt(3) == 0)) {
                free(live.remove(random.nextInt(live.size())));
            } else {
                live.add(body(random.nextInt(typical + 1) + random.nextInt(50), (byte) i));
            }
        }
        live.forEach(this::free);
        assertTrue(unreleased() <= 1, "one region is kept for the next");
        arena.close();
        assertEquals(0, unreleased());
        assertEquals(0, arena.regionBytes());
    }

    @Test
    void threadsCutFromTheSameRegions() throws Exception {
        System.out.println("store.seed=" + SEED);
        Queue<Body> handedOver = new ConcurrentLinkedQueue<>();
        List<Future<?>> threads = new ArrayList<>();
        ExecutorService executor = Executors.newFixedThreadPool(THREADS);
        for (int thread = 0; thread < THREADS; thread++) {
            Random random = new Random(SEED + thread);
            threads.add(executor.submit(() -> {
                for (int i = 0; i < 5_000; i++) {
                    handedOver.add(body(random.nextInt(2_000), (byte) random.nextInt()));
                    Body other = random.nextInt(8) == 0 ? null : handedOver.poll();
                    if (other != null) {
                        free(other);
                    }
                }
            }));
        }
        for (Future<?> thread : threads) {
            thread.get();
        }
        executor.shutdown();
        handedOver.forEach(this::free);
        arena.close();
        assertEquals(0, unreleased());
        assertEquals(0, arena.regionBytes());
    }

    @Test
    void neighboursThatAreFreeBecomeOne() {
        List<Body> all = new ArrayList<>();
        int length = 1_000;
        int count = REGION / BodyArena.bytesFor(length);
        for (int i = 0; i < count; i++) {
            all.add(body(length, (byte) i));
        }
        assertEquals(1, unreleased());
        // First every second one, then those between: three neighbours are merged.
        for (int i = 0; i < count; i += 2) {
            free(all.get(i));
        }
        for (int i = 1; i < count; i += 2) {
            free(all.get(i));
        }
        Body whole = body(REGION - BodyArena.HEADER, (byte) 1);
        assertEquals(1, unreleased());
        free(whole);
    }

    @Test
    void aBlockOfTheSameLengthReusesAReleasedOne() {
        List<Body> all = new ArrayList<>();
        int count = 2 * (REGION / BodyArena.bytesFor(5_120));
        for (int i = 0; i < count; i++) {
            all.add(body(5_120, (byte) i));
        }
        long regions = arena.regionBytes();
        Random random = new Random(SEED);
        for (int i = 0; i < 1_000; i++) {
            free(all.remove(random.nextInt(all.size())));
            all.add(body(5_120, (byte) i));
        }
        assertEquals(regions, arena.regionBytes());
        all.forEach(this::free);
    }

    @Test
    void aBodyLongerThanARegionHasItsOwnRegion() {
        Body large = body(10 * REGION, (byte) 7);
        assertTrue(arena.regionBytes() >= 10 * REGION);
        free(large);
        assertEquals(0, arena.regionBytes());
        assertEquals(0, unreleased());
    }

    @Test
    void ofEmptyRegionsOneIsKept() {
        List<Body> all = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            all.add(body(REGION - BodyArena.HEADER, (byte) i));
        }
        all.forEach(this::free);
        assertEquals(REGION, arena.regionBytes());
        arena.close();
        assertEquals(0, arena.regionBytes());
    }

    @Test
    void aSecondReleaseIsAFault() {
        Body one = body(100, (byte) 1);
        Body other = body(100, (byte) 2);
        free(one);
        assertThrows(IllegalStateException.class, () -> arena.free(one.place));
        free(other);
    }

    @Test
    void aLengthThatNoBlockCanHaveIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> arena.allocate(Integer.MAX_VALUE));
        assertThrows(IllegalArgumentException.class, () -> arena.allocate(-1));
    }

    @Test
    void theBlockIsCutFromTheRegionThatWasMadeForIt() {
        Queue<Runnable> meanwhile = new ConcurrentLinkedQueue<>();
        BodyArena raced = new BodyArena(REGION, bytes -> {
            meanwhile.forEach(Runnable::run);
            return ALLOCATOR.directBuffer(bytes, bytes);
        });
        long large = raced.allocate(REGION - 1_000);
        long small = raced.allocate(500);
        raced.close();
        meanwhile.add(() -> raced.free(large));
        long last = raced.allocate(2_000);
        raced.free(small);
        raced.free(last);
        assertEquals(0, raced.regionBytes());
    }

    @Test
    void aSecondReleaseOfAMergedBlockIsAFault() {
        Body before = body(100, (byte) 1);
        Body one = body(100, (byte) 2);
        Body after = body(100, (byte) 3);
        free(before);
        free(one);
        assertThrows(IllegalStateException.class, () -> arena.free(one.place));
        free(after);
    }

    @Test
    void goesOnWhenThereWasNoMemoryForARegion() {
        Queue<Error> none = new ConcurrentLinkedQueue<>();
        BodyArena poor = new BodyArena(REGION, bytes -> {
            if (!none.isEmpty()) {
                throw none.remove();
            }
            return ALLOCATOR.directBuffer(bytes, bytes);
        });
        long first = poor.allocate(REGION / 2);
        none.add(new OutOfMemoryError("none"));
        assertThrows(OutOfMemoryError.class, () -> poor.allocate(REGION / 2));
        assertEquals(REGION, poor.regionBytes());
        long second = poor.allocate(REGION / 2);
        poor.free(first);
        poor.free(second);
        poor.close();
        assertEquals(0, poor.regionBytes());
    }
}
