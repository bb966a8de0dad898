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

/** Tests the blocks of a body that is being filled, and their use in a resident body. */
class BodyBlocksTest {
    private static final int LENGTH = 3700;
    private static final int TAIL = 300;

    private final BodyPool pool = new BodyPool(null, 1 << 20);
    private final MemoryBudget budget = new MemoryBudget(1 << 20);
    private final BodyBlocks blocks =
            new BodyBlocks(null, 64 << 10, new CountingAllocator(pool, budget, MemoryBudget.Part.FILLING));

    private int copy(Object writer, int from, byte[] bytes) {
        return blocks.copy(writer, 0, from, Unpooled.wrappedBuffer(bytes), 0, bytes.length, -1);
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
}
