package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.ObjectWriter;
import io.millrace.store.StoredObject;
import io.millrace.store.io.FaultyFileIo;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A store on a file system in memory, with partial objects of {@link #BODY}. */
abstract class PartialObjects {
    static final int BLOCK = 8192;
    static final int LENGTH = 5 * BLOCK + 1000;
    static final byte[] BODY = TestStore.body(42, LENGTH);
    static final Executor HERE = Runnable::run;

    FaultyFileIo io = new FaultyFileIo();
    TestStore test;

    @BeforeEach
    void openStore() {
        test = new TestStore(StoreContractTest.volumes(4).ramBytes(1 << 20), io);
    }

    @AfterEach
    void closeStore() {
        test.close();
    }

    void reopen() {
        test.close();
        openStore();
    }

    ObjectWriter<TextHead> create(String key, long length) {
        ObjectWriter<TextHead> writer = test.store.create(test.key(key));
        writer.head(TextHead.of("h"), length);
        return writer;
    }

    static void write(ObjectWriter<TextHead> writer, int from, int to) {
        writer.write(from, Unpooled.copiedBuffer(BODY, from, to - from));
    }

    /** Stores a partial object with these blocks. */
    void keep(String key, int... blocks) {
        ObjectWriter<TextHead> writer = create(key, LENGTH);
        for (int block : blocks) {
            write(writer, block * BLOCK, Math.min(LENGTH, (block + 1) * BLOCK));
        }
        writer.keep();
        assertFalse(writer.isFailed());
    }

    void assertHolds(StoredObject<TextHead> object, int... blocks) throws IOException {
        for (int block = 0; block < 6; block++) {
            int number = block;
            int from = block * BLOCK;
            int to = Math.min(LENGTH, from + BLOCK);
            boolean expected = Arrays.stream(blocks).anyMatch(one -> one == number);
            assertEquals(expected, object.hasRange(from, to - from), "block " + block);
            assertEquals(expected, object.hasRange(to - 1, 1), "end of block " + block);
            if (expected) {
                assertArrayEquals(Arrays.copyOfRange(BODY, from, to), TestStore.readSome(object, from, to - from));
            } else {
                assertThrows(IOException.class, () -> TestStore.readSome(object, from, 1));
            }
        }
        assertEquals(blocks.length == 6, object.isComplete());
        assertEquals(LENGTH, object.length());
    }

    void assertHolds(String key, int... blocks) throws IOException {
        StoredObject<TextHead> object = test.find(key);
        assertNotNull(object);
        assertEquals(key, object.key().toString());
        assertHolds(object, blocks);
        object.release();
    }

    static CompletableFuture<Boolean> onRange(StoredObject<TextHead> object, long position, long length) {
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        object.onRange(position, length, HERE, readable -> assertTrue(answer.complete(readable), "called twice"));
        return answer;
    }

    static byte[] readUpTo(StoredObject<TextHead> object, int length) throws IOException {
        byte[] all = new byte[length];
        for (int at = 0; at < length; ) {
            byte[] some = TestStore.readSome(object, at, length - at);
            System.arraycopy(some, 0, all, at, some.length);
            at += some.length;
        }
        return all;
    }
}
