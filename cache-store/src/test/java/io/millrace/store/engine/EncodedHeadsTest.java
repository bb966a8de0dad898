package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.ObjectWriter;
import io.millrace.store.ResidentReader;
import io.millrace.store.StoreConfig;
import io.millrace.store.StoredObject;
import io.millrace.store.io.SystemFileIo;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests heads in RAM that stay encoded until they are first needed, with a whole store in RAM. */
class EncodedHeadsTest {
    private static final byte[] BODY = TestStore.body(1, 1000);
    /** Heap bytes of an entry with an object, without its key, minus those of a compact entry. */
    private static final int OBJECT_BYTES = 204;

    private static final String HEAD = "h\u00e4\u20ac".repeat(100);

    private final TestStore test = new TestStore(StoreConfig.builder().ramBytes(16 << 20), new SystemFileIo());
    private final TextHead.Codec codec = new TextHead.Codec();

    @AfterEach
    void givesEveryByteBack() {
        test.close();
        assertEquals(0, entryBytes());
    }

    private long entryBytes() {
        return test.store.statistics().memory().entryBytes();
    }

    private StoredObject<TextHead> get(String key) {
        return test.store.get(test.key(key));
    }

    /** Asserts that the first use creates the object and decodes the head onto the heap, and later uses do not. */
    private void assertWaitsCompact(String key, String head) {
        assertWaitsEncoded(key, head, OBJECT_BYTES + key.length());
    }

    /** Asserts that the first use decodes the head onto the heap, and later uses do not. */
    private void assertWaitsEncoded(String key, String head, int objectBytes) {
        long before = entryBytes();
        StoredObject<TextHead> object = get(key);
        assertEquals(TextHead.of(head), object.head());
        long after = before + objectBytes + codec.heapBytes(object.head());
        assertEquals(after, entryBytes());
        StoredObject<TextHead> again = get(key);
        assertSame(object.head(), again.head());
        assertEquals(after, entryBytes());
        again.release();
        object.release();
    }

    @Test
    void headIsDecodedOnFirstUse_andIsTheStoredHead() {
        test.put("a", HEAD, BODY);
        assertWaitsCompact("a", HEAD);
        assertArrayEquals(BODY, test.read("a"));
    }

    @Test
    void encodedHeadCountsAsBodyMemory() {
        String head = "x".repeat(100_000);
        test.put("a", head, BODY);
        long resident = test.store.statistics().memory().residentBytes();
        assertTrue(resident > 100_000, () -> "resident=" + resident);
        assertTrue(entryBytes() < 1000, () -> "entries=" + entryBytes());
        assertWaitsCompact("a", head);
    }

    @Test
    void headBehindABodyOfNoBytes() {
        test.put("a", HEAD, new byte[0]);
        assertWaitsCompact("a", HEAD);
        assertArrayEquals(new byte[0], test.read("a"));
    }

    @Test
    void headBehindABodyWhoseLengthShowedInTheEnd() {
        for (int length : new int[] {1, 1000, 4090, 4096, 20_000}) {
            byte[] body = TestStore.body(length, length);
            ObjectWriter<TextHead> writer = test.store.create(test.key("a" + length));
            writer.head(TextHead.of(HEAD), -1);
            writer.write(0, Unpooled.wrappedBuffer(body));
            writer.complete(length);
            assertWaitsEncoded("a" + length, HEAD, 0);
            assertArrayEquals(body, test.read("a" + length));
        }
    }

    @Test
    void headThatBecameLongerWhileTheBodyCame() {
        ObjectWriter<TextHead> writer = test.store.create(test.key("a"));
        writer.head(TextHead.of("short"), BODY.length);
        writer.write(0, Unpooled.wrappedBuffer(BODY));
        StoredObject<TextHead> filling = writer.object();
        test.store.update(filling, TextHead.of(HEAD));
        filling.release();
        writer.complete(BODY.length);
        assertWaitsEncoded("a", HEAD, 0);
        assertArrayEquals(BODY, test.read("a"));
    }

    @Test
    void newHeadIsTheOneThatIsAskedFor() {
        test.put("a", "old", BODY);
        test.update("a", HEAD);
        assertEquals(HEAD, test.head("a"));
        assertArrayEquals(BODY, test.read("a"));
    }

    @Test
    void readerThatHoldsNothingDecodesToo() {
        test.put("a", HEAD, BODY);
        ResidentReader<TextHead> reader = test.store.residentReader();
        reader.begin();
        StoredObject<TextHead> object = reader.get(test.key("a"));
        assertNotNull(object);
        assertEquals(HEAD, object.head().text());
        reader.end();
        reader.close();
    }

    @Test
    void headThatCannotBeDecodedIsAMiss_andItsObjectGone() {
        for (int way = 0; way < 3; way++) {
            test.put("a", TextHead.UNREADABLE, BODY);
            assertTrue(test.store.isInRam(test.key("a")));
            assertNull(askIn(way), "way " + way);
            assertFalse(test.store.isInRam(test.key("a")));
            assertEquals(0, test.store.statistics().ram().entries());
            test.put("a", "readable", BODY);
            assertEquals("readable", test.head("a"));
        }
    }

    private StoredObject<TextHead> askIn(int way) {
        if (way == 0) {
            return get("a");
        }
        if (way == 1) {
            return test.open(test.key("a"));
        }
        try (ResidentReader<TextHead> reader = test.store.residentReader()) {
            reader.begin();
            return reader.get(test.key("a"));
        }
    }

    @Test
    void threadsThatDecodeAtOnceAllHaveIt_andItCountsOnce() {
        int keys = 300;
        for (int key = 0; key < keys; key++) {
            test.put("key" + key, HEAD + key, BODY);
        }
        long expected = entryBytes();
        for (int key = 0; key < keys; key++) {
            expected += codec.heapBytes(TextHead.of(HEAD + key)) + OBJECT_BYTES + ("key" + key).length();
        }
        CyclicBarrier next = new CyclicBarrier(3);
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int thread = 0; thread < 3; thread++) {
            all.add(CompletableFuture.runAsync(() -> askForAll(keys, next), task -> new Thread(task).start()));
        }
        all.forEach(TestStore::await);
        assertEquals(expected, entryBytes());
    }

    private void askForAll(int keys, CyclicBarrier next) {
        for (int key = 0; key < keys; key++) {
            try {
                next.await(30, TimeUnit.SECONDS);
            } catch (Exception e) {
                throw new AssertionError(e);
            }
            StoredObject<TextHead> object = get("key" + key);
            assertEquals(HEAD + key, object.head().text());
            object.release();
        }
    }
}
