package io.millrace.proxy.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class InFlightMemoryTest {
    private static final long MIB = 1 << 20;
    private static final long BUDGET = 384 * MIB;
    private static final int WINDOW = (int) MIB;

    /** Values that the test sets. */
    private static final class Figures implements InFlightMemory.Gauges {
        private long pinned;
        private long chunks;
        private boolean storeTight;

        @Override
        public long pinnedBytes() {
            return pinned;
        }

        @Override
        public long chunkBytes() {
            return chunks;
        }

        @Override
        public boolean isStoreTight() {
            return storeTight;
        }
    }

    private final Figures figures = new Figures();
    private long configured = BUDGET;
    private long nowNanos;
    private final InFlightMemory shared = new InFlightMemory(figures, () -> configured, 2 * BUDGET);
    private final LoopMemory loop = new LoopMemory(shared, () -> nowNanos, Runnable::run);

    @ParameterizedTest
    @CsvSource({
        "0, PLENTY",
        "191, PLENTY",
        "192, SCARCE",
        "287, SCARCE",
        "288, TIGHT",
        "359, TIGHT",
        "360, FULL",
        "500, FULL"
    })
    void levelsOfABudgetOf384Mib(long usedMib, MemoryLevel level) {
        assertEquals(level, MemoryLevel.of(usedMib * MIB, BUDGET));
    }

    @ParameterizedTest
    @CsvSource({"0, 1024", "128, 1024", "288, 384", "360, 96", "376, 64", "384, 64", "500, 64"})
    void windowIsAFixedPartOfTheFreeMemory(long usedMib, int windowKib) {
        assertEquals(windowKib * 1024, InFlightMemory.windowBytes(usedMib * MIB, BUDGET, WINDOW));
    }

    /** Each connection fills its window repeatedly. All receive the same share, and some memory stays free. */
    @Test
    void hundredsOfStuckResponsesShareTheBudgetEvenly() {
        int[] windows = new int[500];
        long used = 0;
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < windows.length; i++) {
                // A window is never reduced, but filled less.
                int grown = Math.max(windows[i], InFlightMemory.windowBytes(used - windows[i], BUDGET, WINDOW));
                used += grown - windows[i];
                windows[i] = grown;
            }
        }
        assertTrue(used < BUDGET, "used=" + used);
        int next = InFlightMemory.windowBytes(used, BUDGET, WINDOW);
        assertTrue(next >= 2 * InFlightMemory.WINDOW_BYTES_MIN, "the next one gets " + next);
    }

    @Test
    void loopAddsReceivedBytesUntilItMeasures() {
        figures.pinned = 280 * MIB;
        loop.measure();
        assertEquals(MemoryLevel.SCARCE, loop.level());
        figures.pinned = 100 * MIB;
        int piece = 64 * 1024;
        long pieces = shared.batchBytes() / piece;
        for (int i = 1; i < pieces; i++) {
            loop.countReceived(piece);
            assertEquals(280 * MIB + (long) i * piece, loop.usedBytes());
        }
        loop.countReceived(piece);
        assertEquals(100 * MIB, loop.usedBytes(), "a batch is full, so it is measured");
    }

    @ParameterizedTest
    @CsvSource({"0, 65536", "200, 16384", "300, 16384", "370, 4096"})
    void receiveBuffersShrink(long usedMib, int bytes) {
        figures.pinned = usedMib * MIB;
        loop.measure();
        assertEquals(bytes, loop.receiveBytes(65536));
        assertEquals(512, loop.receiveBytes(512));
    }

    @Test
    void failedAllocationIsFullUntilTheNextMeasurement() {
        shared.allocationFailed();
        assertEquals(MemoryLevel.FULL, loop.level());
        assertFalse(shared.level(0) == MemoryLevel.PLENTY);
        loop.measure();
        assertEquals(MemoryLevel.PLENTY, loop.level());
        assertEquals(1, shared.allocationFailures());
    }

    @Test
    void chunksThatAreNearlyAllThereIsMakeItFullUnlessTheyAreIdle() {
        figures.chunks = 2 * BUDGET;
        figures.pinned = 300 * MIB;
        loop.measure();
        assertEquals(MemoryLevel.FULL, loop.level());
        figures.pinned = 10 * MIB;
        loop.measure();
        assertEquals(MemoryLevel.PLENTY, loop.level());
    }

    @Test
    void storeThatIsTightMakesItTight() {
        figures.storeTight = true;
        shared.measureStoreAndKernel();
        assertEquals(MemoryLevel.TIGHT, loop.level());
        assertTrue(loop.admitsFetch(), "the store has its own answer to that");
    }

    @Test
    void budgetIsTheConfiguredSizeWithinTheMemoryOfTheJvm() {
        assertEquals(BUDGET, shared.budgetBytes());
        configured = 0;
        assertEquals(2 * BUDGET / 4 * 3, shared.budgetBytes());
        configured = 100 * BUDGET;
        assertEquals(2 * BUDGET / 4 * 3, shared.budgetBytes());
    }

    @Test
    void fetchIsRefusedOnlyWhenClosingSlowClientsDoesNotHelp() {
        AtomicInteger closings = new AtomicInteger();
        loop.onMemoryFull(() -> {
            closings.incrementAndGet();
            figures.pinned -= 40 * MIB;
        });
        figures.pinned = 380 * MIB;
        loop.measure();
        assertTrue(loop.admitsFetch());
        assertEquals(1, closings.get());

        figures.pinned = 500 * MIB;
        loop.measure();
        assertFalse(loop.admitsFetch(), "slow clients are not closed again so soon");
        assertEquals(1, closings.get());
        nowNanos += 1_000_000_000L;
        assertFalse(loop.admitsFetch());
        assertEquals(2, closings.get());
        figures.pinned = 0;
        assertTrue(loop.admitsFetch(), "memory came back");
    }
}
