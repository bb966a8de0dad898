package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.DiskAdmission;
import io.millrace.store.ListResult;
import io.millrace.store.ListVisitor;
import io.millrace.store.ListedObject;
import io.millrace.store.ObjectWriter;
import io.millrace.store.StoreConfig;
import io.millrace.store.VolumeConfig;
import io.millrace.store.io.SystemFileIo;
import io.netty.buffer.Unpooled;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests stores, moves and listings while the inventory's thread is busy. */
class InventoryBacklogTest {
    private static final int SEGMENT_BYTES = 128 << 10;
    private static final long NEVER = 4_000_000_000L;

    @TempDir
    private Path directory;

    private long cold;

    private TestStore open(long bytes, long inventoryDelayNanos) {
        return open(bytes, inventoryDelayNanos, SEGMENT_BYTES);
    }

    private TestStore open(long bytes, long inventoryDelayNanos, int segmentBytes) {
        return new TestStore(
                StoreConfig.builder()
                        .diskAdmission(DiskAdmission.ALWAYS)
                        .ramBytes(0)
                        .blockBytes(8192)
                        .segmentBytes(segmentBytes)
                        .inventoryDelayNanos(inventoryDelayNanos)
                        .volumes(List.of(new VolumeConfig(directory.resolve("v"), bytes))),
                new SystemFileIo());
    }

    /** Blocks the inventory's thread at the first listed entry. */
    private static final class Hold implements ListVisitor, AutoCloseable {
        private final CountDownLatch reached = new CountDownLatch(1);
        private final CountDownLatch goOn = new CountDownLatch(1);

        static Hold in(TestStore test) {
            Hold hold = new Hold();
            Listings.awaiting().until(() -> hold.isReachedBy(test));
            return hold;
        }

        /** Lists once; returns false if the listing ended without an entry. */
        private boolean isReachedBy(TestStore test) {
            CountDownLatch ended = new CountDownLatch(1);
            test.store.list(null, this, Runnable::run, result -> ended.countDown());
            Listings.awaiting().until(() -> ended.getCount() == 0 || reached.getCount() == 0);
            return reached.getCount() == 0;
        }

        @Override
        public boolean mayMatch(byte[] key) {
            reached.countDown();
            TestStore.awaitLatch(goOn);
            return false;
        }

        @Override
        public boolean visit(ListedObject object) {
            return true;
        }

        void end() {
            goOn.countDown();
        }

        @Override
        public void close() {
            end();
        }
    }

    private static void pin(TestStore test, String key) {
        byte[] body = TestStore.body(1, 300);
        ObjectWriter<TextHead> writer = test.store.create(test.key(key));
        writer.head(TextHead.pinned("pinned", NEVER), body.length);
        writer.write(0, Unpooled.wrappedBuffer(body));
        writer.complete(body.length);
    }

    /** Stores objects that are not kept, until this many further segments were reclaimed. */
    private void turn(TestStore test, int segments) {
        long until = given(test) + segments;
        while (given(test) < until) {
            for (int i = 0; i < 50; i++) {
                assertTrue(test.put("cold" + cold++, "cold", TestStore.body(2, 1000)));
            }
            test.sync();
        }
    }

    private static long given(TestStore test) {
        return test.store.statistics().volumes().get(0).ring().segmentsReclaimed();
    }

    private static Set<String> pinned(Set<String> keys) {
        Set<String> pinned = new TreeSet<>(keys);
        pinned.removeIf(key -> !key.startsWith("pinned"));
        return pinned;
    }

    @Test
    void aListingContainsObjectsStoredBeforeTheRequest() {
        try (TestStore test = open(64 << 20, 0)) {
            putFirst(test);
            Listings.Collected all = new Listings.Collected(key -> true, Integer.MAX_VALUE);
            CompletableFuture<ListResult> listed = new CompletableFuture<>();
            try (Hold hold = Hold.in(test)) {
                for (int i = 0; i < 3000; i++) {
                    test.put("key" + i, "head", TestStore.body(1, 100));
                }
                test.sync();
                test.store.list(null, all, Runnable::run, listed::complete);
                hold.end();
            }
            assertTrue(TestStore.await(listed).isWhole());
            assertEquals(3001, all.objects.size());
        }
    }

    private static void putFirst(TestStore test) {
        test.put("first", "head", TestStore.body(1, 100));
        test.sync();
        Listings.awaiting().until(() -> Listings.whole(test.store).size() == 1);
    }

    @Test
    void aHeadThatCannotBeDescribedCostsNoOtherEntry() {
        try (TestStore test = open(64 << 20, 0)) {
            Listings.whole(test.store);
            test.put("one", "head", TestStore.body(1, 100));
            test.put("bad", TextHead.UNSPEAKABLE, TestStore.body(1, 100));
            test.put("two", "head", TestStore.body(1, 100));
            test.sync();
            assertEquals(Set.of("one", "two"), Listings.whole(test.store).keySet());
            assertEquals(TextHead.UNSPEAKABLE, test.head("bad"));
        }
    }

    @Test
    void recordsCarriedForwardBeforeTheirEntryAreEntered() {
        try (TestStore test = open(8 * SEGMENT_BYTES, 0)) {
            putFirst(test);
            try (Hold hold = Hold.in(test)) {
                for (int i = 0; i < 20; i++) {
                    pin(test, "pinned" + i);
                }
                test.sync();
                turn(test, 16);
                hold.end();
            }
            assertEquals(20, pinned(Listings.whole(test.store).keySet()).size());
        }
    }

    @Test
    void recordsCarriedForwardDuringARebuildAreEntered() {
        Set<String> expected = new TreeSet<>();
        try (TestStore test = open(8 * SEGMENT_BYTES, -1)) {
            for (int segment = 0; segment < 8; segment++) {
                for (int i = 0; i < 8; i++) {
                    String key = "pinned" + segment + "." + i;
                    pin(test, key);
                    expected.add(key);
                }
                turnOrFill(test, segment);
            }
        }
        try (TestStore test = open(8 * SEGMENT_BYTES, 0)) {
            try (Hold hold = Hold.in(test)) {
                turn(test, 9);
                hold.end();
            }
            assertEquals(expected, pinned(Listings.whole(test.store).keySet()));
        }
    }

    /** Stores until the next segment begins. */
    private void turnOrFill(TestStore test, int segment) {
        long bytes = (segment + 1L) * SEGMENT_BYTES;
        while (given(test) == 0 && test.store.statistics().volumes().get(0).bytes() < bytes) {
            for (int i = 0; i < 20; i++) {
                assertTrue(test.put("cold" + cold++, "cold", TestStore.body(2, 1000)));
            }
            test.sync();
        }
    }
}
