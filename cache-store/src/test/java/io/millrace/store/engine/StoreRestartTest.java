package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.ObjectWriter;
import io.millrace.store.StoreConfig;
import io.millrace.store.StoreStatistics;
import io.millrace.store.StoredObject;
import io.millrace.store.VolumeConfig;
import io.millrace.store.io.FaultyFileIo;
import io.millrace.store.io.SystemFileIo;
import io.millrace.store.tool.StoreCheck;
import io.millrace.store.tool.StoreDump;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests what is preserved after a close, a kill, a power failure, a hand-over, and the loss and return of a volume. */
class StoreRestartTest {
    private static final Path VOLUME = Path.of("/volume0");

    private static TestStore open(FaultyFileIo io) {
        return new TestStore(StoreContractTest.volumes(4).ramBytes(1 << 20), io);
    }

    @Test
    void findsEverythingAgainAfterClose() {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = open(io)) {
            test.put("small", "s", TestStore.body(1, 500));
            test.put("large", "l", TestStore.body(2, 100_000));
            test.put("changed", "old", TestStore.body(3, 700));
            test.update("changed", "new");
            test.put("gone", "g", TestStore.body(4, 700));
            test.remove("gone");
        }
        for (FaultyFileIo next : List.of(io.afterKill(), io.afterReboot())) {
            try (TestStore test = open(next)) {
                assertNull(test.store.get(test.key("small")));
                assertTrue(test.store.contains(test.key("small")));
                assertEquals("s", test.head("small"));
                assertArrayEquals(TestStore.body(1, 500), test.read("small"));
                assertArrayEquals(TestStore.body(2, 100_000), test.read("large"));
                assertEquals("new", test.head("changed"));
                assertArrayEquals(TestStore.body(3, 700), test.read("changed"));
                assertFalse(test.store.contains(test.key("gone")));
                assertEquals(3, test.store.statistics().volumes().get(0).entries());
            }
        }
    }

    @Test
    void findsEverythingAgainAfterACloseThatFreesNoMemory() throws IOException {
        FaultyFileIo io = new FaultyFileIo();
        TestStore test = open(io);
        test.put("small", "s", TestStore.body(1, 500));
        test.put("large", "l", TestStore.body(2, 100_000));
        test.remove("large");
        long entries = test.store.statistics().ram().entries();
        test.store.closeBeforeExit();
        assertEquals(entries, test.store.statistics().ram().entries());
        for (FaultyFileIo next : List.of(io.afterKill(), io.afterReboot())) {
            try (TestStore again = open(next)) {
                assertArrayEquals(TestStore.body(1, 500), again.read("small"));
                assertFalse(again.store.contains(again.key("large")));
                assertEquals(1, again.store.statistics().volumes().get(0).entries());
            }
        }
    }

    @Test
    void keepsARemovalThatWasAnsweredAfterKill() {
        FaultyFileIo io = new FaultyFileIo();
        TestStore test = open(io);
        test.put("a", "h", TestStore.body(1, 100));
        test.put("b", "h", TestStore.body(2, 100));
        assertTrue(test.remove("a"));
        FaultyFileIo next = io.afterKill();
        test.abandon();
        try (TestStore again = open(next)) {
            assertNull(again.find("a"));
            assertNotNull(again.head("b"));
        }
    }

    @Test
    void rebuildsTheIndexAfterPowerLoss() {
        FaultyFileIo io = new FaultyFileIo();
        TestStore test = open(io);
        for (int i = 0; i < 300; i++) {
            test.put("k" + i % 100, "h" + i, TestStore.body(i, 3000));
            if (i % 10 == 0) {
                test.remove("k" + i % 100);
            }
        }
        test.sync();
        FaultyFileIo next = io.afterPowerLoss(new Random(1));
        test.abandon();
        try (TestStore again = open(next)) {
            for (int i = 0; i < 100; i++) {
                int newest = 200 + i;
                if (newest % 10 == 0) {
                    assertNull(again.find("k" + i));
                } else {
                    assertEquals("h" + newest, again.head("k" + i));
                    assertArrayEquals(TestStore.body(newest, 3000), again.read("k" + i));
                }
            }
        }
    }

    @Test
    void rebuildsADamagedIndex() {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = open(io)) {
            test.put("a", "h", TestStore.body(1, 100));
        }
        FaultyFileIo next = io.afterKill();
        next.flipBit(VOLUME.resolve("index"), 100);
        try (TestStore test = open(next)) {
            assertEquals("h", test.head("a"));
        }
    }

    @Test
    void reclaimsTheOldestSegments() {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = open(io)) {
            for (int i = 0; i < 3000; i++) {
                assertTrue(test.put("k" + i, "h" + i, TestStore.body(i, 3000)));
            }
            test.sync();
            StoreStatistics statistics = test.store.statistics();
            assertTrue(statistics.counters().segmentsReclaimed() > 0);
            assertTrue(statistics.volumes().get(0).entries() < 1400);
            assertNull(test.find("k0"));
            assertEquals("h2999", test.head("k2999"));
        }
    }

    @Test
    void doesNotOverwriteObjectsBeingRead() {
        try (TestStore test = open(new FaultyFileIo())) {
            byte[] body = TestStore.body(1, 400_000);
            assertTrue(test.put("read", "r", body));
            test.sync();
            StoredObject<TextHead> reading = test.open(test.key("read"));
            assertNull(reading.residentBody());
            for (int i = 0; i < 3000; i++) {
                test.put("k" + i, "h" + i, TestStore.body(i, 3000));
            }
            test.sync();
            assertNull(test.find("read"));
            assertTrue(test.store.statistics().volumes().get(0).pinnedSegments() > 0);
            assertArrayEquals(body, TestStore.readAll(reading));
            reading.release();
            assertEquals(0, test.store.statistics().volumes().get(0).pinnedSegments());
        }
    }

    @Test
    void aSecondOpenerGetsTheHolderOfThePath(@TempDir Path directory) throws IOException {
        StoreConfig.Builder config =
                StoreConfig.builder().volumes(List.of(new VolumeConfig(directory.resolve("v"), 32 << 20)));
        try (TestStore first = new TestStore(config, new SystemFileIo())) {
            UncheckedIOException refused =
                    assertThrows(UncheckedIOException.class, () -> new TestStore(config, new SystemFileIo()));
            assertTrue(refused.getMessage().contains("in use by another store"), refused::toString);
            assertTrue(
                    refused.getMessage()
                            .contains("pid " + ProcessHandle.current().pid()),
                    refused::toString);
            assertThrows(IOException.class, () -> StoreCheck.check(directory.resolve("v")));
            // The refused store has not released the lock of the first one.
            assertThrows(UncheckedIOException.class, () -> new TestStore(config, new SystemFileIo()));
            assertTrue(first.put("a", "h", new byte[10]));
        }
        new TestStore(config, new SystemFileIo()).close();
    }

    @Test
    void handsOverAndTakesBack() throws IOException {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = open(io)) {
            byte[] body = TestStore.body(2, 300_000);
            test.put("ram", "r", TestStore.body(1, 100));
            test.put("disk", "d", body);
            test.put("purged", "p", TestStore.body(3, 300_000));
            test.sync();
            StoredObject<TextHead> reading = test.open(test.key("disk"));
            ObjectWriter<TextHead> writer = test.store.create(test.key("flying"));
            test.store.suspendWrites();
            assertEquals("r", test.head("ram"));
            assertArrayEquals(body, TestStore.readAll(reading));
            assertNull(test.open(test.key("purged")));
            assertTrue(test.store.create(test.key("new")).isFailed());
            writer.head(TextHead.of("h"), 3);
            writer.write(0, Unpooled.wrappedBuffer(new byte[3]));
            writer.complete(3);
            assertTrue(writer.isFailed());
            CompletableFuture<IOException> failure = new CompletableFuture<>();
            test.store.remove(test.key("purged"), Runnable::run, (present, e) -> failure.complete(e));
            assertNotNull(TestStore.await(failure));
            test.store.resumeWrites(false);
            assertArrayEquals(body, TestStore.readAll(reading));
            reading.release();
            assertNull(test.find("purged"));
            assertArrayEquals(body, test.read("disk"));
            assertTrue(test.put("after", "a", TestStore.body(4, 100)));
            test.store.suspendWrites();
            try (TestStore successor = open(io)) {
                assertEquals("a", successor.head("after"));
                assertThrows(IOException.class, () -> test.store.resumeWrites(false));
                successor.remove("after");
            }
            test.store.resumeWrites(false);
            assertNull(test.find("after"));
        }
    }

    @Test
    void aVolumeThatMissedRemovalsReturnsEmpty() {
        FaultyFileIo io = new FaultyFileIo();
        StoreConfig.Builder both = StoreContractTest.volumes(2, 2).ramBytes(0);
        try (TestStore test = new TestStore(both, io)) {
            for (int i = 0; i < 40; i++) {
                test.put("k" + i, "h", TestStore.body(i, 1000));
            }
        }
        StoreConfig.Builder one = StoreContractTest.volumes(2).ramBytes(0);
        try (TestStore test = new TestStore(one, io)) {
            for (int i = 0; i < 40; i++) {
                test.remove("k" + i);
            }
        }
        try (TestStore test = new TestStore(both, io)) {
            for (int i = 0; i < 40; i++) {
                assertNull(test.find("k" + i), "k" + i);
            }
        }
    }

    @Test
    void findsObjectsStoredBeforeAVolumeWasAdded() {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = new TestStore(StoreContractTest.volumes(2).ramBytes(0), io)) {
            for (int i = 0; i < 40; i++) {
                test.put("k" + i, "old", TestStore.body(i, 1000));
            }
        }
        StoreConfig.Builder both = StoreContractTest.volumes(2, 2).ramBytes(0);
        try (TestStore test = new TestStore(both, io)) {
            for (int i = 0; i < 40; i++) {
                assertEquals("old", test.head("k" + i));
                test.put("k" + i, "new", TestStore.body(i, 900));
            }
            test.sync();
            assertTrue(test.store.statistics().volumes().get(1).entries() > 5);
            for (int i = 0; i < 40; i++) {
                assertEquals("new", test.head("k" + i));
                test.remove("k" + i);
            }
        }
        try (TestStore test = new TestStore(both, io)) {
            for (int i = 0; i < 40; i++) {
                assertNull(test.find("k" + i));
            }
        }
    }

    @Test
    void aVolumeMayGrow() {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = new TestStore(StoreContractTest.volumes(2).ramBytes(0), io)) {
            test.put("a", "h", TestStore.body(1, 1000));
        }
        try (TestStore test = new TestStore(StoreContractTest.volumes(6).ramBytes(0), io)) {
            assertEquals("h", test.head("a"));
            assertEquals(6 << 20, test.store.statistics().volumes().get(0).bytesMax());
        }
    }

    @Test
    void theDumpListsTheRecords() throws IOException {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore test = open(io)) {
            test.put("http://example.com/", "h", TestStore.body(1, 1000));
            test.remove("http://example.com/");
        }
        StringBuilder out = new StringBuilder();
        StoreDump.dump(io, VOLUME, StoreDump.Options.ALL, out);
        assertTrue(out.toString().contains("COMPLETE sequence=100000000 "), out::toString);
        assertTrue(out.toString().contains("TOMBSTONE sequence=100000001 "), out::toString);
        assertTrue(out.toString().endsWith(" http://example.com/\n"), out::toString);
        assertTrue(StoreCheck.check(io, VOLUME).toString().startsWith("/volume0: sound\n"));
        assertThrows(IOException.class, () -> StoreCheck.check(io, Path.of("/nothing")));
    }
}
