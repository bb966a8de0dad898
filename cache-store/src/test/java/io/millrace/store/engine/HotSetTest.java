package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.StoreConfig;
import io.millrace.store.StoredObject;
import io.millrace.store.io.Checksums;
import io.millrace.store.io.FaultyFileIo;
import io.millrace.store.io.FileIo;
import io.millrace.store.io.StoreFile;
import io.millrace.store.memory.HottestKeys;
import io.millrace.store.recover.HotManifest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** Tests the loading of RAM after a restart, most requested objects first. */
class HotSetTest {
    private static final Path VOLUME = Path.of("/volume0");
    private static final int OBJECTS = 40;
    private static final int HOTTEST = 8;
    private static final int BODY_BYTES = 3_000;

    private static TestStore open(FileIo io, int ramBytes) {
        StoreConfig.Builder builder =
                StoreContractTest.volumes(8).ramBytes(ramBytes).refillBytesPerSecond(1L << 30);
        return new TestStore(builder.ramObjectBytesMax(100_000), io);
    }

    private static TestStore open(FileIo io) {
        return open(io, 4 << 20);
    }

    /** Stores objects, of which the last ones are requested most. */
    private static void fill(TestStore test) {
        for (int i = 0; i < OBJECTS; i++) {
            assertTrue(test.put("key" + i, "head" + i, TestStore.body(i, BODY_BYTES)));
        }
        test.sync();
        for (int i = OBJECTS - HOTTEST; i < OBJECTS; i++) {
            // The policy receives hits in batches of 32.
            for (int hit = 0; hit < 32; hit++) {
                assertTrue(isResident(test, i));
            }
        }
    }

    private static void awaitRefilled(TestStore test, long atLeast) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (refilled(test) < atLeast) {
            assertTrue(System.nanoTime() < end, () -> "refilled only " + refilled(test));
            LockSupport.parkNanos(1_000_000);
        }
    }

    private static long refilled(TestStore test) {
        return test.store.statistics().counters().objectsRefilled();
    }

    private static boolean isResident(TestStore test, int number) {
        StoredObject<TextHead> object = test.store.get(test.key("key" + number));
        if (object == null) {
            return false;
        }
        try {
            assertEquals("head" + number, object.head().text());
            assertArrayEquals(TestStore.body(number, BODY_BYTES), TestStore.readAll(object));
            return true;
        } finally {
            object.release();
        }
    }

    @Test
    void objectsInRamAreLoadedAgainWithoutRequests() {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = open(io)) {
            fill(test);
        }
        try (TestStore test = open(io.afterReboot())) {
            awaitRefilled(test, OBJECTS);
            for (int i = 0; i < OBJECTS; i++) {
                assertTrue(isResident(test, i), "key" + i);
            }
            assertEquals(0, test.store.statistics().counters().diskHits());
        }
    }

    @Test
    void theHottestComeFirstAndASmallerRamTakesOnlyThem() {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = open(io)) {
            fill(test);
        }
        int fits = 12;
        try (TestStore test = open(io.afterKill(), fits * (BODY_BYTES + 400))) {
            awaitRefilled(test, fits * 8 / 10);
            for (int i = OBJECTS - HOTTEST; i < OBJECTS; i++) {
                assertTrue(isResident(test, i), "key" + i);
            }
            assertTrue(test.store.statistics().ram().entries() <= fits);
        }
    }

    @Test
    void aSuccessorLoadsFasterWhileItsPredecessorStillAnswers() throws IOException {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore old = open(io).withoutCheck()) {
            fill(old);
            old.store.releaseWrites((change, reply) -> {});
            StoreConfig.Builder slow =
                    StoreContractTest.volumes(8).ramBytes(4 << 20).refillBytesPerSecond(1);
            try (TestStore test = new TestStore(slow.ramObjectBytesMax(100_000), io).withoutCheck()) {
                awaitRefilled(test, HOTTEST);
                for (int i = OBJECTS - HOTTEST; i < OBJECTS; i++) {
                    assertTrue(isResident(test, i), "key" + i);
                }
            }
        }
    }

    @Test
    void aSuccessorLoadsObjectsThatWereRequestedOnceLater() {
        HottestKeys keys = new HottestKeys(new long[2 * OBJECTS], HOTTEST);
        assertEquals(HOTTEST, HotSet.limit(keys, true));
        assertEquals(OBJECTS, HotSet.limit(keys, false));
    }

    @Test
    void anObjectReadFromDiskForARequestCountsAsRequestedAgain() throws IOException {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = open(io)) {
            fill(test);
        }
        FaultyFileIo again = io.afterReboot();
        again.delete(VOLUME.resolve(HotManifest.FILE_NAME));
        try (TestStore test = open(again)) {
            assertEquals("head1", test.head("key1"));
            assertNotNull(test.read("key2"));
        }
        HottestKeys keys = HotManifest.read(again, VOLUME, seedInFile(again));
        assertEquals(2, keys.count());
        assertEquals(2, keys.requestedAgain());
    }

    @Test
    void objectsAreListedAsRequestedAgainIfTheyHadAHit() throws IOException {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = open(io)) {
            fill(test);
        }
        FaultyFileIo again = io.afterReboot();
        assertListed(again, HOTTEST);
        try (TestStore test = open(again)) {
            awaitRefilled(test, OBJECTS);
        }
        // To be loaded is not a request.
        assertListed(again, HOTTEST);
    }

    private static long seedInFile(FileIo io) throws IOException {
        try (StoreFile file = io.openForReading(VOLUME.resolve(HotManifest.FILE_NAME))) {
            ByteBuffer seed = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
            file.read(seed, 16);
            return seed.getLong(0);
        }
    }

    private static void assertListed(FileIo io, int requestedAgain) throws IOException {
        HottestKeys keys = HotManifest.read(io, VOLUME, seedInFile(io));
        assertEquals(OBJECTS, keys.count());
        assertEquals(requestedAgain, keys.requestedAgain());
    }

    @Test
    void aPurgeIsNotUndone() {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = open(io)) {
            fill(test);
        }
        FaultyFileIo again = io.afterKill();
        TestStore killed = open(again);
        awaitRefilled(killed, OBJECTS);
        killed.remove("key" + (OBJECTS - 1));
        // The file still lists the purged key, because the file was written before the purge.
        FaultyFileIo afterCrash = again.afterKill();
        killed.abandon();
        try (TestStore test = open(afterCrash)) {
            awaitRefilled(test, OBJECTS - 1);
            assertNull(test.find("key" + (OBJECTS - 1)));
            assertEquals(OBJECTS - 1, refilled(test));
        }
    }

    @Test
    void aDamagedListIsIgnored() throws IOException {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = open(io)) {
            fill(test);
        }
        FaultyFileIo damaged = io.afterKill();
        try (StoreFile file = damaged.open(VOLUME.resolve(HotManifest.FILE_NAME))) {
            ByteBuffer one = ByteBuffer.allocate(1);
            file.read(one, 100);
            one.put(0, (byte) (one.get(0) ^ 1));
            file.write(one.clear(), 100);
        }
        try (TestStore test = open(damaged)) {
            assertNull(test.store.get(test.key("key1")));
            assertEquals("head1", test.head("key1"));
            assertEquals(0, refilled(test));
        }
        try (TestStore test = open(damaged.afterKill())) {
            awaitRefilled(test, 1);
            assertNotNull(test.read("key1"));
        }
    }

    @Test
    void listsRoundTripAndForeignOnesCountAsEmpty() throws IOException {
        FaultyFileIo io = new FaultyFileIo();
        io.createDirectories(VOLUME);
        long[] hashes = {1, 2, 3, 4, 5, 6};
        HotManifest.write(io, VOLUME, 7, new HottestKeys(hashes, 1));
        assertArrayEquals(hashes, HotManifest.read(io, VOLUME, 7).hashes());
        assertEquals(1, HotManifest.read(io, VOLUME, 7).requestedAgain());
        assertEquals(0, HotManifest.read(io, VOLUME, 8).count());
        HotManifest.write(io, VOLUME, 7, new HottestKeys(new long[0], 0));
        assertEquals(0, HotManifest.read(io, VOLUME, 7).count());
        try (StoreFile file = io.open(VOLUME.resolve(HotManifest.FILE_NAME))) {
            file.resize(10);
        }
        assertEquals(0, HotManifest.read(io, VOLUME, 7).count());
        io.delete(VOLUME.resolve(HotManifest.FILE_NAME));
        assertEquals(0, HotManifest.read(io, VOLUME, 7).count());
    }

    @Test
    void allObjectsOfAListOfTheVersionBeforeCountAsRequestedAgain() throws IOException {
        FaultyFileIo io = new FaultyFileIo();
        io.createDirectories(VOLUME);
        HotManifest.write(io, VOLUME, 7, new HottestKeys(new long[] {1, 2, 3, 4}, 1));
        try (StoreFile file = io.open(VOLUME.resolve(HotManifest.FILE_NAME))) {
            ByteBuffer all = ByteBuffer.allocate((int) file.length()).order(ByteOrder.LITTLE_ENDIAN);
            file.read(all, 0);
            int end = all.capacity() - Integer.BYTES;
            all.putLong(24, 0).putInt(end, Checksums.crc32c(all, 0, end));
            file.write(all.position(0), 0);
        }
        assertEquals(2, HotManifest.read(io, VOLUME, 7).requestedAgain());
    }

    @Test
    void aHandOverPassesTheListOn() throws IOException {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore first = open(io)) {
            fill(first);
            first.store.suspendWrites();
            try (TestStore second = open(io)) {
                awaitRefilled(second, OBJECTS);
                assertTrue(isResident(second, OBJECTS - 1));
            }
            first.withoutCheck();
        }
    }
}
