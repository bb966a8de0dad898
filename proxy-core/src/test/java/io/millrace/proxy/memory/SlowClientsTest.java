package io.millrace.proxy.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.memory.SlowClients.OriginDemand;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests which client is closed first, with a clock that the test sets. */
class SlowClientsTest {
    private static final long MIB = 1 << 20;
    private static final long BUDGET = 160 * MIB;
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private final List<String> closed = new ArrayList<>();
    private final List<SlowReason> reasons = new ArrayList<>();
    private long pinned;
    private long nowNanos = 1000 * SECOND;
    private boolean storeTight;

    private final LoopMemory memory = new LoopMemory(
            new InFlightMemory(
                    new InFlightMemory.Gauges() {
                        @Override
                        public long pinnedBytes() {
                            return pinned;
                        }

                        @Override
                        public long chunkBytes() {
                            return 0;
                        }

                        @Override
                        public boolean isStoreTight() {
                            return storeTight;
                        }
                    },
                    () -> BUDGET,
                    10 * BUDGET),
            () -> nowNanos,
            Runnable::run);
    private final SlowClients slow = new SlowClients(memory, 1, () -> 1024, reasons::add);

    private final class Fake implements SlowClients.Client {
        private final String name;
        private final long tookLastNanos;
        private final long bytesPerSecond;
        private OriginDemand demand = OriginDemand.NONE;
        private long heldBytes = 10 * MIB;

        private Fake(String name, double silentSeconds, long bytesPerSecond) {
            this.name = name;
            tookLastNanos = nowNanos - (long) (silentSeconds * SECOND);
            this.bytesPerSecond = bytesPerSecond;
        }

        private Fake wanted(OriginDemand by) {
            demand = by;
            return this;
        }

        @Override
        public long silentNanos(long now) {
            return now - tookLastNanos;
        }

        @Override
        public long unsentNanos(long now) {
            return 60 * SECOND;
        }

        @Override
        public long bytesPerSecond(long now) {
            return bytesPerSecond;
        }

        @Override
        public OriginDemand originDemand() {
            return demand;
        }

        @Override
        public void closeSlow(SlowReason reason) {
            closed.add(name);
            pinned -= heldBytes;
        }
    }

    private List<String> closedOf(Fake... clients) {
        closed.clear();
        reasons.clear();
        for (Fake client : clients) {
            slow.add(client);
        }
        slow.closeSome(nowNanos);
        return closed;
    }

    @Test
    void noClientIsClosedWhileMemoryIsPlentiful() {
        pinned = 100 * MIB;
        assertEquals(List.of(), closedOf(new Fake("silent", 29, 0), new Fake("slow", 0, 1)));
    }

    @Test
    void longestSilentIsClosedFirstAndNoMoreThanNeeded() {
        pinned = 120 * MIB;
        List<String> gone = closedOf(
                new Fake("3s", 3, 0),
                new Fake("9s", 9, 0),
                new Fake("slow", 0.1, 1),
                new Fake("1s", 1, 0),
                new Fake("5s", 5, 0));
        assertEquals(List.of("9s"), gone);
        assertEquals(List.of(SlowReason.MEMORY), reasons);
    }

    @Test
    void readingClientsAreClosedLastAndOnlyWhenMemoryIsUsedUp() {
        Fake[] clients = {new Fake("50 kB/s", 0.1, 50_000), new Fake("1 kB/s", 0.3, 1000), new Fake("silent", 0.6, 0)};
        pinned = 130 * MIB;
        assertEquals(List.of(), closedOf(clients), "tight: none was silent for two seconds");
        pinned = 155 * MIB;
        assertEquals(List.of("silent"), closedOf(clients), "full: closing that one made room");
        pinned = 200 * MIB;
        assertEquals(
                List.of("silent", "1 kB/s", "50 kB/s").subList(0, 2),
                closedOf(clients).subList(0, 2));
    }

    @Test
    void originThatOthersWaitForIsFreedOfTheSilentOnly() {
        pinned = 0;
        assertEquals(
                List.of("awaited 8s", "crowded 3s", "awaited 2s"),
                closedOf(
                        new Fake("awaited 2s", 2, 0).wanted(OriginDemand.AWAITED),
                        new Fake("awaited but taking", 0.1, 10).wanted(OriginDemand.AWAITED),
                        new Fake("crowded 1s", 1.5, 0).wanted(OriginDemand.CROWDED),
                        new Fake("crowded 3s", 3, 0).wanted(OriginDemand.CROWDED),
                        new Fake("nobody wants it", 20, 0),
                        new Fake("awaited 8s", 8, 0).wanted(OriginDemand.AWAITED)));
        assertEquals(List.of(SlowReason.ORIGIN, SlowReason.ORIGIN, SlowReason.ORIGIN), reasons);
    }

    @Test
    void storeThatIsTightHasAnEighthOfTheSilentClosed() {
        storeTight = true;
        Fake[] silent = new Fake[16];
        for (int i = 0; i < silent.length; i++) {
            silent[i] = new Fake(i + 3 + "s", i + 3, 0);
        }
        assertEquals(List.of("18s", "17s"), closedOf(silent));
    }

    @Test
    void loopsShareTheConnectionsToClose() {
        SlowClients oneOfFour = new SlowClients(memory, 4, () -> 0, reasons::add);
        pinned = 159 * MIB;
        for (int i = 0; i < 4; i++) {
            oneOfFour.add(new Fake("silent", 10, 0));
        }
        oneOfFour.closeSome(nowNanos);
        assertTrue(closed.size() <= 2, closed::toString);
    }

    @Test
    void closedClientsAreRemoved() {
        pinned = 159 * MIB;
        slow.add(new Fake("once", 10, 0));
        slow.closeSome(nowNanos);
        pinned = 159 * MIB;
        slow.closeSome(nowNanos);
        assertEquals(List.of("once"), closed);
    }
}
