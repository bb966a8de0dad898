package io.millrace.store.engine.filling;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.store.engine.TestStore;
import io.millrace.store.memory.BodyPool;
import io.millrace.store.memory.CountingAllocator;
import io.millrace.store.memory.MemoryBudget;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the blocks of a body that is being filled, and their use in a resident body. */
class BodyBlocksTest {
    private static final int LENGTH = 3700;
    private static final int TAIL = 300;

    private final BodyPool pool = new BodyPool(null, 1 << 20);
    private final MemoryBudget budget = new MemoryBudget(1 << 20);
    private final BodyBlocks blocks =
            new BodyBlocks(null, 64 << 10, new CountingAllocator(pool, budget, MemoryBudget.Part.FILLING));

    private int copy(Object writer, int from, byte[] bytes) {
        return blocks.copy(writer.toString().intern(), 0, from, Unpooled.wrappedBuffer(bytes), 0, bytes.length, -1);
    }

    @Test
    void noWritesFollowAResidentBody() {
        assertEquals(LENGTH, copy("first", 0, TestStore.body(1, LENGTH)));
        ByteBuf body = blocks.singleBody(LENGTH, TAIL);
        byte[] head = TestStore.body(2, TAIL);
        body.slice(LENGTH, TAIL).setBytes(0, head);

        assertEquals(0, copy("second", LENGTH, new byte[50]));
        assertEquals(ByteBufUtil.hexDump(head), ByteBufUtil.hexDump(body.slice(LENGTH, TAIL)));

        assertEquals(2, body.refCnt(), "it is the block itself");
        body.release();
        blocks.releaseBuffers();
        assertEquals(0, budget.totalBytes());
        pool.close();
    }

    /** Several range requests write to one block, and the content of one of them cannot be trusted. */
    @ParameterizedTest
    @CsvSource({
        "a b, b, true",
        "a b c, a, true",
        "a b c, c, true",
        "a b a b, a, true",
        "a b, c, false",
        "a b a, c, false"
    })
    void aBlockIsForgottenWithEachOfItsWriters(String writers, String untrusted, boolean isForgotten) {
        String[] each = writers.split(" ", -1);
        for (int i = 0; i < each.length; i++) {
            assertEquals(100 * (i + 1), copy(each[i], 100 * i, TestStore.body(i, 100)));
        }
        blocks.forget(untrusted.intern());
        assertEquals(isForgotten, blocks.find(0) == null);
        blocks.releaseBuffers();
        pool.close();
    }
}
