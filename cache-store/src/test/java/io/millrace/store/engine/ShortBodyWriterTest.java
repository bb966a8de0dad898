package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.ObjectWriter;
import io.millrace.store.StoredObject;
import io.millrace.store.io.FaultyFileIo;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests writers of short bodies, and the change to blocks when a caller needs them. */
class ShortBodyWriterTest {
    private final TestStore test =
            new TestStore(StoreContractTest.volumes(8).segmentBytes(1 << 20).blockBytes(1 << 16), new FaultyFileIo());

    /** Checks at the close that all buffers are released. */
    @AfterEach
    void close() {
        test.close();
    }

    private ObjectWriter<TextHead> writer(String key, long length) {
        ObjectWriter<TextHead> writer = test.store.create(test.key(key));
        writer.head(TextHead.of("head of " + key), length);
        return writer;
    }

    private static ByteBuf piece(byte[] body, int from, int to) {
        return Unpooled.directBuffer(Math.max(1, to - from)).writeBytes(body, from, to - from);
    }

    private long fillingBytes() {
        return test.store.statistics().memory().fillingBytes();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 1000, ObjectWriter.SHORT_BODY_BYTES_MAX, ObjectWriter.SHORT_BODY_BYTES_MAX + 1})
    void storesBodiesAroundTheLimit(int length) {
        byte[] body = TestStore.body(length, length);
        ObjectWriter<TextHead> writer = writer("key", length);
        for (int from = 0; from < length; from += 7000) {
            writer.write(from, piece(body, from, Math.min(length, from + 7000)));
        }
        writer.complete(length);
        assertFalse(writer.isFailed());
        assertArrayEquals(body, test.read("key"));
        assertEquals("head of key", test.head("key"));
        assertEquals(1, test.store.statistics().counters().writesCompleted());
    }

    @Test
    void aReaderInTheMiddleSeesWhatWasWritten() throws Exception {
        byte[] body = TestStore.body(1, 5000);
        ObjectWriter<TextHead> writer = writer("key", body.length);
        writer.write(0, piece(body, 0, 2000));
        StoredObject<TextHead> object = writer.object();
        assertTrue(object.hasRange(0, 2000));
        assertFalse(object.hasRange(0, 2001));
        assertArrayEquals(Arrays.copyOf(body, 2000), TestStore.readSome(object, 0, body.length));
        CompletableFuture<Boolean> whole = new CompletableFuture<>();
        object.onRange(0, body.length, Runnable::run, whole::complete);
        assertFalse(whole.isDone());
        writer.write(2000, piece(body, 2000, body.length));
        assertTrue(TestStore.await(whole));
        writer.complete(body.length);
        assertArrayEquals(body, TestStore.readAll(object));
        object.release();
        assertArrayEquals(body, test.read("key"));
    }

    @Test
    void rangesInAnyOrderFillTheBody() {
        byte[] body = TestStore.body(2, 5000);
        ObjectWriter<TextHead> writer = writer("key", body.length);
        writer.write(0, piece(body, 0, 1000));
        writer.write(4000, piece(body, 4000, 5000));
        writer.write(500, piece(body, 500, 4500));
        writer.complete(body.length);
        assertFalse(writer.isFailed());
        assertArrayEquals(body, test.read("key"));
    }

    @Test
    void anUnknownLengthBecomesKnownAtTheEnd() {
        byte[] body = TestStore.body(3, 5000);
        ObjectWriter<TextHead> writer = writer("key", -1);
        writer.write(0, piece(body, 0, body.length));
        writer.complete(body.length);
        assertArrayEquals(body, test.read("key"));
    }

    @Test
    void aTruncatedBodyIsNotStored() {
        byte[] body = TestStore.body(4, 5000);
        ObjectWriter<TextHead> writer = writer("key", body.length);
        writer.write(0, piece(body, 0, 4999));
        writer.complete(body.length);
        assertTrue(writer.isFailed());
        assertNull(test.find("key"));
        ObjectWriter<TextHead> shorter = writer("key", body.length);
        shorter.write(0, piece(body, 0, 4999));
        shorter.complete(4999);
        assertTrue(shorter.isFailed());
        assertNull(test.find("key"));
        assertEquals(2, test.store.statistics().counters().writesFailed());
        assertEquals(0, fillingBytes());
    }

    @Test
    void moreBytesThanAnnouncedFailTheWriter() {
        byte[] body = TestStore.body(5, 5000);
        ObjectWriter<TextHead> writer = writer("key", 4000);
        writer.write(0, piece(body, 0, 3000));
        writer.write(3000, piece(body, 3000, 4001));
        assertTrue(writer.isFailed());
        assertEquals(0, fillingBytes());
        writer.complete(4000);
        assertNull(test.find("key"));
    }

    @Test
    void aRemovalFailsTheWriter() {
        byte[] body = TestStore.body(6, 5000);
        ObjectWriter<TextHead> writer = writer("key", body.length);
        writer.write(0, piece(body, 0, 2000));
        assertFalse(test.remove("key"));
        assertTrue(writer.isFailed());
        writer.write(2000, piece(body, 2000, body.length));
        writer.complete(body.length);
        assertNull(test.find("key"));
        assertEquals(0, fillingBytes());
    }

    @Test
    void failedWritersStoreNothing() {
        byte[] body = TestStore.body(7, 100);
        ObjectWriter<TextHead> writer = writer("key", body.length);
        writer.write(0, piece(body, 0, body.length));
        test.store.abortWriters(test.key("key"));
        assertTrue(writer.isFailed());
        writer.complete(body.length);
        assertNull(test.find("key"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void anEndWithoutCompletionReleasesTheContent(boolean keeping) {
        byte[] body = TestStore.body(8, 5000);
        assertTrue(test.put("key", "old", body));
        ObjectWriter<TextHead> writer = writer("key", body.length);
        writer.write(0, piece(body, 0, 4000));
        assertTrue(fillingBytes() > 0);
        if (keeping) {
            writer.keep();
        } else {
            writer.abort();
        }
        assertEquals(0, fillingBytes());
        assertEquals("old", test.head("key"));
    }

    @Test
    void theLastOfTwoWritersReplacesTheFirst() {
        byte[] body = TestStore.body(9, 5000);
        ObjectWriter<TextHead> first = writer("key", 3);
        ObjectWriter<TextHead> second = writer("key", body.length);
        second.write(0, piece(body, 0, body.length));
        second.complete(body.length);
        first.write(0, piece(body, 0, 3));
        first.complete(3);
        assertArrayEquals(Arrays.copyOf(body, 3), test.read("key"));
    }
}
