package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.DiskAdmission;
import io.millrace.store.ListResult;
import io.millrace.store.ListVisitor;
import io.millrace.store.ListedObject;
import io.millrace.store.StoreConfig;
import io.millrace.store.VolumeConfig;
import io.millrace.store.inventory.RecentEntries;
import io.millrace.store.io.FaultyFileIo;
import io.millrace.store.io.FullDiskIo;
import io.millrace.store.io.SystemFileIo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Tests the inventory: its listings, and that it is open or rebuilt after every kind of end. */
class StoreInventoryTest {
    @TempDir
    private Path directory;

    private StoreConfig.Builder config(int volumes, long bytes) {
        List<VolumeConfig> all = new ArrayList<>();
        for (int i = 0; i < volumes; i++) {
            all.add(new VolumeConfig(directory.resolve("v" + i), bytes));
        }
        return StoreConfig.builder()
                .diskAdmission(DiskAdmission.ALWAYS)
                .ramBytes(1 << 20)
                .blockBytes(8192)
                .inventoryDelayNanos(0)
                .volumes(all);
    }

    private TestStore open() {
        return new TestStore(config(1, 64 << 20), new SystemFileIo());
    }

    private static void fill(TestStore test, int from, int to) {
        for (int i = from; i < to; i++) {
            test.put("http://h" + i % 7 + "/" + i, "head" + i, TestStore.body(i, 100 + i));
        }
        test.sync();
    }

    @Test
    void agreesWithAModelOfRandomChanges() {
        long seed = new Random().nextLong();
        System.out.println("seed=" + seed);
        Random random = new Random(seed);
        Map<String, String> model = new HashMap<>();
        try (TestStore test = new TestStore(config(2, 64 << 20), new SystemFileIo())) {
            for (int i = 0; i < 2000; i++) {
                String key = "http://host/" + random.nextInt(300);
                int what = random.nextInt(10);
                if (what < 6) {
                    test.put(key, "head" + i, TestStore.body(i, random.nextInt(20_000)));
                    model.put(key, "head" + i);
                } else if (what < 8) {
                    test.remove(key);
                    model.remove(key);
                } else if (model.containsKey(key)) {
                    test.update(key, "updated" + i);
                    model.put(key, "updated" + i);
                }
                if (i == 1000) {
                    // The inventory is open from now on: half of it comes from the segments, half from changes.
                    Listings.whole(test.store);
                }
            }
            test.sync();
            Listings.awaiting().untilAsserted(() -> {
                Map<String, String> listed = new HashMap<>();
                Listings.whole(test.store)
                        .forEach((key, object) ->
                                listed.put(key, object.summary().text()));
                assertEquals(model, listed, "seed=" + seed);
            });
        }
    }

    @Test
    void reportsTheStateOfAnObject() {
        try (TestStore test = open()) {
            test.put("http://host/a", "head", TestStore.body(1, 100_000));
            test.sync();
            Listings.awaiting().until(() -> Listings.whole(test.store).size() == 1);
            ListedObject object = Listings.whole(test.store).get("http://host/a");
            assertEquals(100_000, object.bodyLength());
            assertTrue(object.isWhole());
            assertEquals(1_900_000_000L, object.expiresAtSeconds());
            assertEquals("head", object.summary().text());
            assertEquals(TextHead.STORED_AT, object.summary().storedAtSeconds());
            assertEquals(List.of("tag-head"), object.tags());
            assertEquals(directory.resolve("v0"), object.volume());
            assertTrue(object.offset() > 0);
        }
    }

    @Test
    void storedObjectsAreEnteredAsFromTheSegmentsWithoutReads() throws IOException {
        String entered;
        try (TestStore test = open()) {
            Listings.whole(test.store);
            long decoded = TextHead.Codec.DECODED.sum();
            fill(test, 0, 50);
            Listings.awaiting().until(() -> Listings.whole(test.store).size() == 50);
            assertEquals(decoded, TextHead.Codec.DECODED.sum());
            entered = described(test);
        }
        deleteLists();
        try (TestStore test = open()) {
            assertEquals(entered, described(test));
        }
    }

    private Path lists() {
        return directory.resolve("v0/object-lists");
    }

    private List<Path> listFiles() throws IOException {
        try (Stream<Path> files = Files.list(lists())) {
            return files.sorted().toList();
        }
    }

    private void deleteLists() throws IOException {
        for (Path file : listFiles()) {
            Files.delete(file);
        }
    }

    private static String described(TestStore test) {
        StringBuilder lines = new StringBuilder();
        Listings.whole(test.store).forEach((key, object) -> lines.append(key)
                .append(' ')
                .append(List.of(
                        object.segment(),
                        object.offset(),
                        object.headLength(),
                        object.bodyLength(),
                        object.isWhole(),
                        object.expiresAtSeconds(),
                        object.summary()))
                .append('\n'));
        return lines.toString();
    }

    @Test
    void goesOnPageByPageWithoutLossOrRepetition() {
        try (TestStore test = new TestStore(config(2, 64 << 20), new SystemFileIo())) {
            fill(test, 0, 500);
            assertEquals(500, Listings.whole(test.store).size());
            Set<String> seen = new HashSet<>();
            String after = null;
            int pages = 0;
            do {
                Listings.Collected page = new Listings.Collected(key -> key.startsWith("http://h3/"), 10);
                ListResult result = Listings.list(test.store, after, page);
                for (String key : page.objects.keySet()) {
                    assertTrue(seen.add(key), key);
                }
                assertTrue(page.objects.size() == 10 || result.next() == null);
                after = result.next();
                pages++;
            } while (after != null);
            assertEquals(71, seen.size());
            assertEquals(8, pages);
        }
    }

    @Test
    void refusesAPlaceThatIsNone() {
        try (TestStore test = open()) {
            Listings.Collected all = new Listings.Collected(key -> true, 10);
            for (String bad : List.of("", "x", "1", "1.2.3.4.5", "-1.0.0.0.0.0", "1.2.3.4.5.g", "1.2.3.4.5.6.7")) {
                Executable listing = () -> test.store.list(bad, all, Runnable::run, result -> {});
                assertThrows(IllegalArgumentException.class, listing, bad);
            }
        }
    }

    @Test
    void isThereAgainAfterACleanStopWithoutReadingTheSegments() {
        try (TestStore test = open()) {
            fill(test, 0, 200);
            assertEquals(200, Listings.whole(test.store).size());
        }
        try (TestStore test = open()) {
            Listings.Collected all = new Listings.Collected(key -> true, Integer.MAX_VALUE);
            assertTrue(Listings.list(test.store, null, all).isWhole(), "whole at once");
            assertEquals(200, all.objects.size());
        }
    }

    @Test
    void findsObjectsStoredWithoutAnInventory() {
        try (TestStore test = open()) {
            fill(test, 0, 50);
            assertEquals(50, Listings.whole(test.store).size());
        }
        try (TestStore test = new TestStore(config(1, 64 << 20).inventoryDelayNanos(-1), new SystemFileIo())) {
            fill(test, 50, 80);
            test.remove("http://h1/1");
            ListResult result = Listings.list(test.store, null, new Listings.Collected(key -> true, 1));
            assertEquals("the inventory is turned off", result.obstacle());
            assertFalse(result.isWhole());
        }
        try (TestStore test = open()) {
            assertEquals(79, Listings.whole(test.store).size());
        }
    }

    /** Entries that are written later may belong to lists that the listing has visited already. */
    @Test
    void aPageIsNotWholeIfTheInventoryWasStillBeingWritten() throws IOException {
        int objects = 2000;
        StoreConfig.Builder config = config(1, 64 << 20).segmentBytes(1 << 20);
        try (TestStore test = new TestStore(config, new SystemFileIo())) {
            fill(test, 0, objects);
            assertEquals(objects, Listings.whole(test.store).size());
        }
        deleteLists();
        // The inventory opens with the first listing.
        StoreConfig.Builder late = config.inventoryDelayNanos(TimeUnit.HOURS.toNanos(1));
        try (TestStore test = new TestStore(late, new SystemFileIo())) {
            ListResult first = Listings.list(test.store, null, new FirstBlock());
            assertNull(first.obstacle());
            assertFalse(first.isWhole());
            Listings.awaiting().until(() -> test.store.inventory().isWhole());
            Listings.Collected others = new Listings.Collected(key -> true, Integer.MAX_VALUE);
            ListResult last = Listings.list(test.store, first.next(), others);
            assertTrue(last.isWhole());
            assertNull(last.next());
            assertTrue(others.objects.size() < objects, "the first page lacked nothing");
            assertEquals(objects, Listings.whole(test.store).size());
        }
    }

    /** Ends the listing after one block. */
    private static final class FirstBlock implements ListVisitor {
        @Override
        public boolean mayMatch(byte[] key) {
            return false;
        }

        @Override
        public boolean visit(ListedObject object) {
            return false;
        }

        @Override
        public boolean continues() {
            return false;
        }
    }

    @Test
    void isWrittenAgainWhereItsFilesAreDamaged() throws IOException {
        long seed = new Random().nextLong();
        System.out.println("seed=" + seed);
        Random random = new Random(seed);
        StoreConfig.Builder config = config(1, 4 << 20).segmentBytes(32 << 10);
        try (TestStore test = new TestStore(config, new SystemFileIo())) {
            fill(test, 0, 500);
            Listings.whole(test.store);
        }
        assertTrue(listFiles().size() > 3, () -> "one list for each segment");
        for (int round = 0; round < 12; round++) {
            Path list = listFiles().get(random.nextInt(listFiles().size()));
            byte[] bytes = Files.readAllBytes(list);
            if (round == 0) {
                Files.write(list, new byte[0]);
            } else if (round == 1) {
                Files.write(list, Arrays.copyOf(bytes, bytes.length / 2));
            } else if (round == 2) {
                Files.delete(list);
            } else if (round == 3) {
                Files.write(lists().resolve("ffff.list"), bytes);
            } else {
                bytes[random.nextInt(bytes.length)] ^= (byte) (1 + random.nextInt(255));
                Files.write(list, bytes);
            }
            try (TestStore test = new TestStore(config, new SystemFileIo())) {
                // A damaged block is found when it is read. The listing says so, and the next one is complete again.
                Listings.Collected all = new Listings.Collected(key -> true, Integer.MAX_VALUE);
                ListResult first = Listings.list(test.store, null, all);
                assertTrue(!first.isWhole() || all.objects.size() == 500, "round=" + round + ", seed=" + seed);
                assertEquals(500, Listings.whole(test.store).size(), "round=" + round + ", seed=" + seed);
            }
            assertFalse(Files.exists(lists().resolve("ffff.list")), "the list of no segment is deleted");
        }
    }

    @Test
    void objectsWithLongKeysAreFilledToo() throws IOException {
        int objects = 60;
        try (TestStore test = open()) {
            for (int i = 0; i < objects; i++) {
                test.put("http://host/" + (100 + i) + "x".repeat(60_000), "head", TestStore.body(i, 10));
            }
            test.sync();
            assertEquals(objects, Listings.whole(test.store).size());
        }
        deleteLists();
        try (TestStore test = open()) {
            assertEquals(objects, Listings.whole(test.store).size());
        }
    }

    /** The objects that are stored during the fill are in the active segment, which is filled. */
    @Test
    void noObjectIsListedTwiceIfTheActiveSegmentWasFilled() throws IOException {
        try (TestStore test = open()) {
            fill(test, 0, 2000);
        }
        deleteLists();
        try (TestStore test = open()) {
            Listings.list(test.store, null, new FirstBlock());
            fill(test, 2000, 4000);
            assertEquals(4000, Listings.whole(test.store).size());
        }
        try (TestStore test = open()) {
            assertEquals(4000, Listings.whole(test.store).size());
        }
    }

    @Test
    void aCursorOfOtherVolumesIsRefusedWithAReason() {
        try (TestStore test = open()) {
            fill(test, 0, 20);
            Listings.whole(test.store);
            ListResult result = Listings.list(test.store, "1.0.5.1.0.0", new Listings.Collected(key -> true, 1));
            assertFalse(result.isWhole());
            assertEquals(
                    "the storage paths changed during the listing; list again from the beginning", result.obstacle());
        }
    }

    /** Objects that were moved to segments that are reclaimed again before the listing reads them may be missing. */
    @Test
    void aListingIsNotWholeIfTheRingTurnsFasterThanItReads() {
        try (TestStore test = new TestStore(config(1, 1 << 20).segmentBytes(128 << 10), new SystemFileIo())) {
            fill(test, 0, 100);
            assertEquals(100, Listings.whole(test.store).size());
            ListResult first = Listings.list(test.store, null, new Listings.Collected(key -> true, 1));
            assertTrue(first.isWhole());
            for (int i = 100; i < 6000; i++) {
                test.put("http://host/" + i, "head", TestStore.body(i, 500));
            }
            test.sync();
            Listings.awaiting().until(() -> test.store.inventory().isWhole());
            ListResult rest = Listings.list(test.store, first.next(), new Listings.Collected(key -> true, 100_000));
            assertFalse(rest.isWhole());
            assertNull(rest.next());
        }
    }

    @Test
    void aCursorOfAReplacedListRepeatsTheListAndSaysSo() throws IOException {
        try (TestStore test = open()) {
            fill(test, 0, 50);
            Listings.whole(test.store);
            Listings.Collected all = new Listings.Collected(key -> true, Integer.MAX_VALUE);
            ListResult first = Listings.list(test.store, null, new Listings.Collected(key -> true, 1));
            String volumes = first.next().substring(0, first.next().indexOf('.'));
            ListResult result = Listings.list(test.store, volumes + ".0.ffff.1.7.0", all);
            assertFalse(result.isWhole());
            assertEquals(50, all.objects.size());
            assertTrue(test.store.inventory().isWhole(), "the list is not damaged");
        }
    }

    @Test
    void aFullDiskCostsTheInventoryAndNothingElse() {
        FullDiskIo io = new FullDiskIo("object-lists/1.list");
        try (TestStore test = new TestStore(config(1, 64 << 20), io)) {
            fill(test, 0, 20);
            Listings.awaiting().until(() -> {
                ListResult result = Listings.list(test.store, null, new Listings.Collected(key -> true, 1));
                return result.obstacle() != null && result.obstacle().contains("No space left");
            });
            assertFalse(test.store.inventory().isWhole());
            assertEquals("head7", test.head("http://h0/7"));
        }
    }

    @Test
    void isCompleteAgainWhenTheDiskHasSpaceAgain() {
        FullDiskIo io = new FullDiskIo("object-lists/1.list");
        try (TestStore test = new TestStore(config(1, 64 << 20).inventoryRetryNanos(1), io)) {
            fill(test, 0, 20);
            Listings.awaiting().until(() -> test.store.inventory().dropped() > 0);
            io.freeSpace();
            assertEquals(20, Listings.whole(test.store).size());
        }
    }

    @Test
    void theInventoryOfAnEarlierVersionIsReplaced() throws IOException {
        Path volume = directory.resolve("v0");
        Files.createDirectories(volume);
        for (String name : List.of("inventory", "inventory.state", "inventory.larger-7")) {
            Files.writeString(volume.resolve(name), "of the version before");
        }
        try (TestStore test = open()) {
            fill(test, 0, 20);
            assertEquals(20, Listings.whole(test.store).size());
            try (Stream<Path> files = Files.list(volume)) {
                assertEquals(
                        List.of(),
                        files.map(file -> file.getFileName().toString())
                                .filter(name -> name.startsWith("inventory"))
                                .toList());
            }
        }
    }

    @Test
    void filesInMemoryHaveOneToo() {
        StoreConfig.Builder config = StoreContractTest.volumes(4).inventoryDelayNanos(0);
        try (TestStore test = new TestStore(config, new FaultyFileIo())) {
            test.put("a", "head", TestStore.body(1, 100));
            test.sync();
            assertEquals(Set.of("a"), Listings.whole(test.store).keySet());
        }
    }

    @Test
    void entriesBeyondTheLimitAreWrittenFromTheSegments() {
        try (TestStore test = open()) {
            fill(test, 0, 1);
            assertEquals(1, Listings.whole(test.store).size());
            CountDownLatch reached = new CountDownLatch(1);
            CountDownLatch goOn = new CountDownLatch(1);
            test.store.list(null, new Blocking(reached, goOn), Runnable::run, result -> {});
            await(reached);
            byte[] body = TestStore.body(1, 10);
            int keyBytes = 20_000;
            // Three of these keys fill a chunk.
            int objects = 3 * RecentEntries.CHUNKS_MAX + 100;
            for (int i = 0; i < objects; i++) {
                test.put("key" + (1000 + i) + "x".repeat(keyBytes), "head", body);
            }
            test.sync();
            assertTrue(test.store.inventory().dropped() > 0);
            assertFalse(test.store.inventory().isWhole());
            goOn.countDown();
            assertEquals(1 + objects, Listings.whole(test.store).size());
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Blocks the inventory's thread. */
    private record Blocking(CountDownLatch reached, CountDownLatch goOn) implements ListVisitor {
        @Override
        public boolean mayMatch(byte[] key) {
            reached.countDown();
            await(goOn);
            return false;
        }

        @Override
        public boolean visit(ListedObject object) {
            return false;
        }
    }

    /** Repeated, because it depends on the scheduling of threads which segments are reclaimed before they are listed. */
    @RepeatedTest(5)
    void staysSmallWhileTheRingTurns() {
        try (TestStore test = new TestStore(config(1, 1 << 20).segmentBytes(128 << 10), new SystemFileIo())) {
            for (int i = 0; i < 6000; i++) {
                test.put("http://host/" + i, "head", TestStore.body(i, 500));
            }
            test.sync();
            Listings.awaiting().until(() -> {
                long objects = test.store.statistics().volumes().get(0).entries();
                return test.store.inventory().isWhole()
                        && test.store.inventory().entries() <= objects * 2 + 512;
            });
            assertEquals(
                    test.store.statistics().volumes().get(0).entries(),
                    Listings.whole(test.store).size());
        }
    }

    @Test
    void isHandedOverWithTheVolumes() throws IOException {
        try (TestStore first = open()) {
            fill(first, 0, 100);
            assertEquals(100, Listings.whole(first.store).size());
            first.store.suspendWrites();
            ListResult away = Listings.list(first.store, null, new Listings.Collected(key -> true, 1));
            assertNotNull(away.obstacle());
            try (TestStore second = open()) {
                Listings.Collected all = new Listings.Collected(key -> true, Integer.MAX_VALUE);
                assertTrue(Listings.list(second.store, null, all).isWhole(), "whole at once");
                assertEquals(100, all.objects.size());
                fill(second, 100, 120);
            }
            first.store.resumeWrites(false);
            assertEquals(120, Listings.whole(first.store).size());
        }
    }

    @Test
    void aStoreInRamAloneIsReportedAsSuch() {
        try (TestStore test = new TestStore(StoreConfig.builder(), new SystemFileIo())) {
            ListResult result = Listings.list(test.store, null, new Listings.Collected(key -> true, 1));
            assertNotNull(result.obstacle());
            assertNull(result.next());
        }
    }
}
