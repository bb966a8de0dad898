package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.ObjectWriter;
import io.millrace.store.ObjectWriter.Claim;
import io.millrace.store.StoredObject;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tests writers that divide the blocks of a partial object among them, and readers that wait for the blocks. */
class PartialWritersTest extends PartialObjects {
    @Test
    void claimsAreRunsOfFreeBlocks() {
        keep("a", 1, 4);
        StoredObject<TextHead> object = test.find("a");
        ObjectWriter<TextHead> one = test.store.extend(object);
        ObjectWriter<TextHead> two = test.store.extend(object);
        assertEquals(new Claim(2 * BLOCK, BLOCK), one.claim(2 * BLOCK + 5, 1));
        assertEquals(new Claim(0, BLOCK), two.claim(0, Long.MAX_VALUE));
        assertEquals(new Claim(3 * BLOCK, BLOCK), two.claim(0, Long.MAX_VALUE));
        assertEquals(new Claim(5 * BLOCK, 1000), two.claim(0, Long.MAX_VALUE));
        assertNull(two.claim(0, Long.MAX_VALUE));
        assertNull(one.claim(0, Long.MAX_VALUE));
        assertNull(one.claim(LENGTH, 1));
        assertNull(one.claim(-1, 1));
        assertNull(one.claim(0, 0));
        two.keep();
        assertEquals(new Claim(3 * BLOCK, BLOCK), one.claim(2 * BLOCK, LENGTH));
        one.abort();
        ObjectWriter<TextHead> three = test.store.extend(object);
        assertEquals(new Claim(2 * BLOCK, 2 * BLOCK), three.claim(BLOCK, 3 * BLOCK));
        three.keep();
        assertNull(three.claim(0, LENGTH));
        object.release();
    }

    @Test
    void readersWaitForRangesThatSomebodyFills() {
        keep("a", 1);
        StoredObject<TextHead> object = test.find("a");
        assertTrue(onRange(object, BLOCK, BLOCK).getNow(null));
        assertFalse(onRange(object, 0, 1).getNow(null));
        assertFalse(onRange(object, -1, 1).getNow(null));
        assertFalse(onRange(object, LENGTH + 1, 1).getNow(null));
        assertTrue(onRange(object, LENGTH, 1).getNow(null));
        ObjectWriter<TextHead> one = test.store.extend(object);
        ObjectWriter<TextHead> two = test.store.extend(object);
        assertNotNull(one.claim(0, 1));
        assertNotNull(two.claim(2 * BLOCK, 2 * BLOCK));
        CompletableFuture<Boolean> across = onRange(object, BLOCK - 100, 2 * BLOCK);
        CompletableFuture<Boolean> second = onRange(object, 2 * BLOCK, 100);
        assertFalse(onRange(object, 3 * BLOCK, 2 * BLOCK).getNow(null));
        write(two, 2 * BLOCK, 2 * BLOCK + 99);
        assertFalse(second.isDone());
        write(two, 2 * BLOCK + 99, 3 * BLOCK);
        assertTrue(second.getNow(null));
        assertFalse(across.isDone());
        write(one, 0, BLOCK);
        assertTrue(across.getNow(null));
        CompletableFuture<Boolean> never = onRange(object, 2 * BLOCK, 2 * BLOCK);
        assertFalse(never.isDone());
        one.keep();
        assertFalse(never.isDone());
        two.keep();
        assertFalse(never.getNow(null));
        object.release();
    }

    @Test
    void aWriterThatClaimsNothingIsWaitedFor() {
        ObjectWriter<TextHead> writer = create("a", -1);
        StoredObject<TextHead> object = writer.object();
        CompletableFuture<Boolean> end = onRange(object, LENGTH - 10, 100_000);
        CompletableFuture<Boolean> beyond = onRange(object, LENGTH + 10, 1);
        write(writer, 0, LENGTH);
        assertFalse(end.isDone());
        writer.complete(LENGTH);
        assertTrue(end.getNow(null));
        assertFalse(beyond.getNow(null));
        object.release();
        ObjectWriter<TextHead> aborted = create("b", LENGTH);
        StoredObject<TextHead> lost = aborted.object();
        CompletableFuture<Boolean> inVain = onRange(lost, 0, 1);
        aborted.abort();
        assertFalse(inVain.getNow(null));
        assertFalse(onRange(lost, 0, 1).getNow(null));
        lost.release();
        test.put("c", "h", BODY);
        StoredObject<TextHead> whole = test.find("c");
        assertTrue(onRange(whole, 0, Long.MAX_VALUE).getNow(null));
        assertFalse(onRange(whole, LENGTH + 1, 1).getNow(null));
        whole.release();
    }

    @Test
    void anUnknownLengthIsReportedLater() throws IOException {
        ObjectWriter<TextHead> writer = create("a", -1);
        write(writer, 0, 2 * BLOCK + 10);
        writer.keep();
        test.sync();
        reopen();
        StoredObject<TextHead> object = test.find("a");
        assertEquals(-1, object.length());
        assertTrue(object.hasRange(0, 2 * BLOCK));
        assertFalse(object.hasRange(2 * BLOCK, 1));
        ObjectWriter<TextHead> shorter = test.store.extend(object);
        shorter.length(2 * BLOCK - 1);
        assertTrue(shorter.isFailed());
        shorter.keep();
        ObjectWriter<TextHead> rest = test.store.extend(object);
        write(rest, 2 * BLOCK, LENGTH);
        assertFalse(object.isComplete());
        rest.length(LENGTH);
        assertTrue(object.isComplete());
        ObjectWriter<TextHead> other = test.store.extend(object);
        other.complete(LENGTH + 1);
        assertTrue(other.isFailed());
        rest.keep();
        assertHolds(object, 0, 1, 2, 3, 4, 5);
        object.release();
        reopen();
        assertArrayEquals(BODY, test.read("a"));
    }

    @Test
    void rangesBehindTheEndAreRefused() {
        keep("a", 0);
        StoredObject<TextHead> object = test.find("a");
        ObjectWriter<TextHead> writer = test.store.extend(object);
        writer.write(LENGTH, Unpooled.wrappedBuffer(new byte[1]));
        assertTrue(writer.isFailed());
        writer.keep();
        object.release();
    }

    @Test
    void theFillOfAnObjectMayBeHelped() throws IOException {
        ObjectWriter<TextHead> writer = create("a", LENGTH);
        assertNotNull(writer.claim(0, 3 * BLOCK));
        StoredObject<TextHead> filling = writer.object();
        ObjectWriter<TextHead> helper = test.store.extend(filling);
        assertEquals(new Claim(3 * BLOCK, LENGTH - 3 * BLOCK), helper.claim(0, LENGTH));
        write(helper, 3 * BLOCK, LENGTH);
        helper.complete(LENGTH);
        assertNull(test.find("a"));
        write(writer, 0, 3 * BLOCK);
        assertNull(test.find("a"));
        writer.complete(LENGTH);
        assertFalse(writer.isFailed());
        assertHolds(filling, 0, 1, 2, 3, 4, 5);
        filling.release();
        assertArrayEquals(BODY, test.read("a"));
    }

    @Test
    void aHelperDiesWithTheFill() {
        ObjectWriter<TextHead> writer = create("a", LENGTH);
        StoredObject<TextHead> filling = writer.object();
        ObjectWriter<TextHead> helper = test.store.extend(filling);
        write(helper, 3 * BLOCK, LENGTH);
        writer.abort();
        assertTrue(helper.isFailed());
        helper.keep();
        filling.release();
        test.sync();
        assertNull(test.find("a"));
    }

    @Test
    void aCompleteObjectHasNothingToExtend() {
        test.put("a", "h", BODY);
        StoredObject<TextHead> object = test.find("a");
        ObjectWriter<TextHead> writer = test.store.extend(object);
        assertNull(writer.claim(0, LENGTH));
        write(writer, 0, 100);
        assertFalse(writer.isFailed());
        writer.complete(LENGTH);
        object.release();
        assertArrayEquals(BODY, test.read("a"));
    }
}
