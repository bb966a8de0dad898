package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.ObjectWriter;
import io.millrace.store.StoreStatistics;
import io.millrace.store.StoredObject;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests of the contract of {@code CacheStore}. Each configuration has a subclass. */
abstract class CacheStoreContract {
    TestStore test;

    abstract TestStore open();

    /** Longest body that this configuration stores. */
    abstract int bodyBytesMax();

    @BeforeEach
    void openStore() {
        test = open();
    }

    @AfterEach
    void closeStore() {
        test.close();
    }

    @Test
    void findsNothingInAnEmptyStore() {
        assertNull(test.store.get(test.key("a")));
        assertFalse(test.store.contains(test.key("a")));
        assertNull(test.open(test.key("a")));
    }

    @Test
    void findsCompletedObjects() {
        byte[] body = TestStore.body(1, 5000);
        assertTrue(test.put("a", "head a", body));
        assertTrue(test.store.contains(test.key("a")));
        StoredObject<TextHead> object = test.find("a");
        assertEquals("head a", object.head().text());
        assertEquals(5000, object.length());
        assertTrue(object.isComplete());
        assertTrue(object.hasRange(0, 5000));
        assertFalse(object.hasRange(1, 5000));
        assertEquals(test.key("a"), object.key());
        assertArrayEquals(body, TestStore.readAll(object));
        object.release();
    }

    @Test
    void findsBodiesOfEveryLength() {
        int[] lengths = {0, 1, 63, 64, 4095, 4096, 4097, 8191, 8192, 8193, 20_000, 65_536, 65_537, 140_000};
        for (int length : lengths) {
            if (length <= bodyBytesMax()) {
                assertTrue(test.put("k" + length, "h" + length, TestStore.body(length, length)), "length " + length);
            }
        }
        test.sync();
        for (int length : lengths) {
            if (length <= bodyBytesMax()) {
                assertArrayEquals(TestStore.body(length, length), test.read("k" + length), "length " + length);
                assertEquals("h" + length, test.head("k" + length));
            }
        }
    }

    @Test
    void discardRemovesAStoredObject() {
        test.put("a", "h", TestStore.body(1, 5000));
        StoredObject<TextHead> object = test.find("a");
        test.store.discard(object);
        assertNull(test.find("a"));
        object.release();
    }

    @Test
    void discardKeepsTheReplacement() {
        test.put("a", "old", TestStore.body(1, 5000));
        StoredObject<TextHead> object = test.find("a");
        test.put("a", "new", TestStore.body(2, 6000));
        test.store.discard(object);
        assertEquals("new", test.head("a"));
        object.release();
    }

    @Test
    void takesABodyOfUnknownLength() {
        byte[] body = TestStore.body(2, 9000);
        ObjectWriter<TextHead> writer = test.store.create(test.key("a"));
        writer.head(TextHead.of("h"), -1);
        writer.write(0, Unpooled.wrappedBuffer(body, 0, 4500));
        writer.write(4500, Unpooled.wrappedBuffer(body, 4500, 4500));
        writer.complete(9000);
        assertArrayEquals(body, test.read("a"));
    }

    @Test
    void takesRangesInAnyOrderAndRepeated() {
        byte[] body = TestStore.body(3, 20_000);
        ObjectWriter<TextHead> writer = test.store.create(test.key("a"));
        writer.head(TextHead.of("h"), body.length);
        int[][] ranges = {{15_000, 20_000}, {0, 100}, {50, 9000}, {14_000, 16_000}, {8000, 14_500}, {0, 20_000}};
        for (int[] range : ranges) {
            writer.write(range[0], Unpooled.wrappedBuffer(body, range[0], range[1] - range[0]));
        }
        writer.complete(body.length);
        assertFalse(writer.isFailed());
        assertArrayEquals(body, test.read("a"));
    }

    @Test
    void readsWhileFilling() throws IOException {
        byte[] body = TestStore.body(4, 20_000);
        ObjectWriter<TextHead> writer = test.store.create(test.key("a"));
        StoredObject<TextHead> filling = writer.object();
        assertThrows(IllegalStateException.class, filling::head);
        writer.head(TextHead.of("h"), body.length);
        assertEquals("h", filling.head().text());
        assertFalse(filling.isComplete());
        writer.write(0, Unpooled.wrappedBuffer(body, 0, 12_000));
        assertTrue(filling.hasRange(0, 12_000));
        assertFalse(filling.hasRange(11_999, 2));
        int position = 0;
        while (position < 12_000) {
            byte[] some = TestStore.readSome(filling, position, 5000);
            assertArrayEquals(Arrays.copyOfRange(body, position, position + some.length), some);
            position += some.length;
        }
        assertThrows(IOException.class, () -> TestStore.readSome(filling, 12_000, 1));
        assertNull(test.find("a"));
        writer.write(12_000, Unpooled.wrappedBuffer(body, 12_000, 8000));
        writer.complete(body.length);
        assertTrue(filling.isComplete());
        assertArrayEquals(body, TestStore.readAll(filling));
        test.sync();
        assertArrayEquals(body, TestStore.readAll(filling));
        filling.release();
    }

    @Test
    void dropsAnAbortedObject() {
        ObjectWriter<TextHead> writer = test.store.create(test.key("a"));
        StoredObject<TextHead> filling = writer.object();
        writer.head(TextHead.of("h"), 20_000);
        writer.write(0, Unpooled.wrappedBuffer(TestStore.body(1, 15_000)));
        writer.abort();
        assertFalse(filling.isComplete());
        assertFalse(filling.hasRange(0, 1));
        assertThrows(IOException.class, () -> TestStore.readSome(filling, 0, 10));
        filling.release();
        assertNull(test.find("a"));
        assertFalse(test.store.contains(test.key("a")));
        assertTrue(writer.isFailed());
    }

    @Test
    void keepsTheOldObjectUntilTheNewOneIsComplete() {
        test.put("a", "old", TestStore.body(1, 7000));
        ObjectWriter<TextHead> writer = test.store.create(test.key("a"));
        writer.head(TextHead.of("new"), 3);
        writer.write(0, Unpooled.wrappedBuffer(new byte[] {1, 2, 3}));
        assertEquals("old", test.head("a"));
        writer.complete(3);
        assertEquals("new", test.head("a"));
        assertArrayEquals(new byte[] {1, 2, 3}, test.read("a"));
    }

    @Test
    void aHandleOutlivesReplacementAndRemoval() {
        byte[] body = TestStore.body(5, 9000);
        test.put("a", "old", body);
        StoredObject<TextHead> old = test.find("a");
        test.put("a", "new", TestStore.body(6, 100));
        test.remove("a");
        assertArrayEquals(body, TestStore.readAll(old));
        assertEquals("old", old.head().text());
        old.release();
    }

    @Test
    void aWriterWithMissingBytesFails() {
        ObjectWriter<TextHead> writer = test.store.create(test.key("a"));
        writer.head(TextHead.of("h"), 100);
        writer.write(0, Unpooled.wrappedBuffer(new byte[99]));
        writer.complete(100);
        assertTrue(writer.isFailed());
        assertNull(test.find("a"));
    }

    @Test
    void aWriterWithTooManyBytesFails() {
        ObjectWriter<TextHead> writer = test.store.create(test.key("a"));
        writer.head(TextHead.of("h"), 100);
        ByteBuf content = Unpooled.wrappedBuffer(new byte[101]);
        writer.write(0, content);
        assertTrue(writer.isFailed());
        assertEquals(0, content.refCnt());
        writer.complete(100);
        assertNull(test.find("a"));
    }

    @Test
    void anObjectLongerThanTheLimitFailsItsWriter() {
        ObjectWriter<TextHead> writer = test.store.create(test.key("a"));
        writer.head(TextHead.of("h"), Long.MAX_VALUE);
        assertTrue(writer.isFailed());
        writer.abort();
    }

    @Test
    void removesAndReportsIfThereWasAnything() {
        test.put("a", "h", TestStore.body(1, 20_000));
        assertTrue(test.remove("a"));
        assertNull(test.store.get(test.key("a")));
        assertFalse(test.store.contains(test.key("a")));
        assertNull(test.open(test.key("a")));
        assertFalse(test.remove("a"));
        assertFalse(test.remove("never"));
    }

    @Test
    void removalIsSeenBeforeItIsAnswered() {
        test.put("a", "h", TestStore.body(1, 100));
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        test.store.remove(test.key("a"), Runnable::run, (present, failure) -> answer.complete(present));
        assertNull(test.store.get(test.key("a")));
        assertFalse(test.store.contains(test.key("a")));
        assertNull(test.open(test.key("a")));
        assertTrue(TestStore.await(answer));
    }

    @Test
    void removalFailsTheWritersInFlight() {
        ObjectWriter<TextHead> writer = test.store.create(test.key("a"));
        writer.head(TextHead.of("h"), 10);
        writer.write(0, Unpooled.wrappedBuffer(new byte[10]));
        test.remove("a");
        assertTrue(writer.isFailed());
        writer.complete(10);
        assertNull(test.find("a"));
        assertTrue(test.put("a", "later", new byte[10]));
        assertEquals("later", test.head("a"));
    }

    @Test
    void updatesTheHeadAndKeepsTheBody() {
        byte[] body = TestStore.body(7, 20_000);
        test.put("a", "one", body);
        test.update("a", "two");
        // The write of the object may end between the two calls. Opens then find the new head after its record is
        // appended.
        test.sync();
        assertEquals("two", test.head("a"));
        test.update("a", "three");
        assertEquals("three", test.head("a"));
        test.sync();
        assertEquals("three", test.head("a"));
        assertArrayEquals(body, test.read("a"));
    }

    @Test
    void ignoresAnUpdateOfAReplacedObject() {
        test.put("a", "one", TestStore.body(1, 100));
        StoredObject<TextHead> first = test.find("a");
        test.put("a", "two", TestStore.body(2, 100));
        test.store.update(first, TextHead.of("late"));
        assertEquals("two", test.head("a"));
        test.sync();
        test.store.update(first, TextHead.of("later"));
        test.sync();
        assertEquals("two", test.head("a"));
        first.release();
    }

    @Test
    void ignoresAnUpdateOfARemovedObject() {
        test.put("a", "one", TestStore.body(1, 100));
        StoredObject<TextHead> first = test.find("a");
        test.remove("a");
        test.store.update(first, TextHead.of("late"));
        test.sync();
        assertNull(test.find("a"));
        first.release();
    }

    @Test
    void repeatedUpdatesThroughOneHandleAreTaken() {
        test.put("a", "one", TestStore.body(1, 100));
        StoredObject<TextHead> first = test.find("a");
        test.store.update(first, TextHead.of("two"));
        test.store.update(first, TextHead.of("three"));
        test.sync();
        test.store.update(first, TextHead.of("four"));
        test.sync();
        assertEquals("four", test.head("a"));
        assertEquals("one", first.head().text());
        first.release();
    }

    @Test
    void callsBackWhenWritable() {
        ObjectWriter<TextHead> writer = test.store.create(test.key("a"));
        writer.head(TextHead.of("h"), -1);
        CompletableFuture<Void> writable = new CompletableFuture<>();
        writer.onWritable(Runnable::run, () -> writable.complete(null));
        TestStore.await(writable);
        writer.abort();
    }

    @Test
    void readsPartsOfAnObject() throws IOException {
        int length = Math.min(bodyBytesMax(), 140_000);
        byte[] body = TestStore.body(9, length);
        test.put("a", "h", body);
        test.sync();
        StoredObject<TextHead> object = test.find("a");
        for (int[] part : new int[][] {{0, 1}, {length - 1, 10}, {4095, 2}, {length / 2, 1000}, {1, length}}) {
            byte[] some = TestStore.readSome(object, part[0], part[1]);
            assertTrue(some.length > 0 && some.length <= part[1]);
            assertArrayEquals(Arrays.copyOfRange(body, part[0], part[0] + some.length), some);
        }
        assertThrows(IOException.class, () -> TestStore.readSome(object, length, 1));
        assertThrows(IOException.class, () -> TestStore.readSome(object, -1, 1));
        object.release();
    }

    @Test
    void countsItsOperations() {
        test.put("a", "h", TestStore.body(1, 100));
        assertNotNull(test.head("a"));
        test.remove("a");
        StoreStatistics statistics = test.store.statistics();
        assertEquals(1, statistics.counters().writesCompleted());
        assertEquals(1, statistics.counters().removals());
        assertEquals(0, statistics.counters().writesFailed());
        assertEquals(0, statistics.ram().bytes());
    }

    @Test
    void keysAreEqualByTheirBytes() {
        assertEquals(test.key("abc"), test.key("abc"));
        assertEquals(test.key("abc"), test.store.key("xabcx".getBytes(java.nio.charset.StandardCharsets.UTF_8), 1, 3));
        assertFalse(test.key("abc").equals(test.key("abd")));
        assertEquals("abc", test.key("abc").toString());
    }

    @Test
    void afterCloseNothingIsFoundAndNothingThrows() throws IOException {
        test.put("a", "h", TestStore.body(1, 100));
        test.store.close();
        assertNull(test.store.get(test.key("a")));
        assertFalse(test.store.contains(test.key("a")));
        assertNull(test.open(test.key("a")));
        ObjectWriter<TextHead> writer = test.store.create(test.key("a"));
        assertTrue(writer.isFailed());
        writer.write(0, Unpooled.wrappedBuffer(new byte[1]));
        writer.complete(1);
        CompletableFuture<Boolean> removed = new CompletableFuture<>();
        test.store.remove(test.key("a"), Runnable::run, (present, failure) -> removed.complete(present));
        TestStore.await(removed);
    }
}
