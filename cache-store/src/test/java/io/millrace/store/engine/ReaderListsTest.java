package io.millrace.store.engine;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.StoredObject;
import io.millrace.store.io.FaultyFileIo;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests readers that continue after their store has handed over its volumes. */
class ReaderListsTest {
    private static final Path VOLUME = Path.of("/volume0");
    private static final int LENGTH = 400_000;

    private static TestStore open(FaultyFileIo io) {
        return new TestStore(
                StoreContractTest.volumes(2).ramBytes(0).syncIntervalNanos(TimeUnit.MILLISECONDS.toNanos(1)), io);
    }

    private static StoredObject<TextHead> reading(TestStore store) {
        assertTrue(store.put("read", "h", TestStore.body(1, LENGTH)));
        store.sync();
        StoredObject<TextHead> object = store.find("read");
        assertNotNull(object);
        return object;
    }

    /** Writes three times the capacity of the volume. */
    private static void wrap(TestStore store) {
        for (int i = 0; i < 60; i++) {
            assertTrue(store.put("k" + i, "h", TestStore.body(i, 100_000)));
        }
        store.sync();
    }

    @Test
    void theSuccessorWritesOverNothingThatIsStillRead() throws IOException {
        FaultyFileIo io = new FaultyFileIo();
        TestStore old = open(io).withoutCheck();
        StoredObject<TextHead> object = reading(old);
        old.store.suspendWrites();
        assertEquals(1, io.list(VOLUME, "readers.").size());
        try (TestStore successor = open(io)) {
            wrap(successor);
            assertArrayEquals(TestStore.body(1, LENGTH), TestStore.readAll(object));
            object.release();
            await().until(() -> io.list(VOLUME, "readers.").isEmpty());
            wrap(successor);
        }
        old.close();
    }

    @Test
    void aListGetsShorterAsReadersEnd() throws IOException {
        FaultyFileIo io = new FaultyFileIo();
        TestStore old = open(io).withoutCheck();
        StoredObject<TextHead> object = reading(old);
        wrapPart(old);
        StoredObject<TextHead> later = old.find("part");
        old.store.suspendWrites();
        Path list = io.list(VOLUME, "readers.").get(0);
        int before = io.contentIfHeld(list).length;
        later.release();
        await().until(() -> io.contentIfHeld(list).length < before);
        object.release();
        old.close();
    }

    private static void wrapPart(TestStore store) {
        assertTrue(store.put("part", "h", TestStore.body(2, LENGTH)));
        store.sync();
    }

    @Test
    void aListWhoseHolderDiedCountsForNothing() throws IOException {
        FaultyFileIo io = new FaultyFileIo();
        TestStore old = open(io).withoutCheck();
        StoredObject<TextHead> object = reading(old);
        old.store.suspendWrites();
        FaultyFileIo next = io.afterKill();
        assertEquals(1, next.list(VOLUME, "readers.").size());
        object.release();
        old.abandon();
        try (TestStore successor = open(next)) {
            assertEquals(0, next.list(VOLUME, "readers.").size());
            wrap(successor);
        }
    }

    @Test
    void readsFailWhenTheSuccessorCouldNotBeNotified() throws IOException {
        FaultyFileIo io = new FaultyFileIo();
        TestStore old = open(io).withoutCheck();
        StoredObject<TextHead> object = reading(old);
        io.failWrites(true, VOLUME);
        try {
            old.store.suspendWrites();
        } catch (IOException e) {
            // The force failed as well.
        }
        io.failWrites(false, VOLUME);
        assertThrows(IOException.class, () -> TestStore.readSome(object, 0, 1000));
        object.release();
        open(io).close();
        old.close();
    }

    @Test
    void anInvalidListPinsAllUntilItsHolderEnds() throws IOException {
        FaultyFileIo io = new FaultyFileIo();
        open(io).close();
        var held = io.hold(VOLUME.resolve("readers.1"), new byte[] {1, 2, 3});
        try (TestStore store = open(io)) {
            assertTrue(store.put("first", "h", TestStore.body(1, 100)));
            store.sync();
            assertEquals(null, store.find("first"));
            held.close();
            assertTrue(store.put("second", "h", TestStore.body(1, 100)));
            store.sync();
            assertEquals("h", store.head("second"));
        }
    }

    @Test
    void readersOutliveATakingBack() throws IOException {
        FaultyFileIo io = new FaultyFileIo();
        try (TestStore store = open(io)) {
            StoredObject<TextHead> object = reading(store);
            store.store.suspendWrites();
            store.store.resumeWrites(false);
            assertEquals(0, io.list(VOLUME, "readers.").size());
            wrap(store);
            assertArrayEquals(TestStore.body(1, LENGTH), TestStore.readAll(object));
            store.store.suspendWrites();
            try (TestStore successor = open(io)) {
                wrap(successor);
                assertArrayEquals(TestStore.body(1, LENGTH), TestStore.readAll(object));
            }
            object.release();
            store.store.resumeWrites(false);
        }
    }
}
