package io.millrace.store.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.memory.MemoryBudget.Part;
import io.netty.buffer.ByteBuf;
import io.netty.util.IllegalReferenceCountException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests references to a buffer whose bytes the budget counts. */
class CountedBufferReferencesTest {
    private final MemoryBudget budget = new MemoryBudget(64 << 20);
    private final BodyPool pool = new BodyPool(null, 64 << 20);
    private final CountingAllocator allocator = new CountingAllocator(pool, budget, Part.FILLING);

    @AfterEach
    void givesItsMemoryBack() {
        assertEquals(0, budget.totalBytes());
        pool.close();
        assertEquals(0, pool.chunkBytes());
    }

    @Test
    void isThereUntilTheLastReferenceIsGivenUp() {
        ByteBuf buffer = allocator.directBuffer(100).writeInt(42);
        ByteBuf slice = buffer.retainedSlice(0, 4);
        buffer.retain(2);
        assertEquals(4, buffer.refCnt());
        assertFalse(buffer.release(3));
        assertEquals(42, slice.readInt());
        assertTrue(slice.release());
        assertEquals(0, buffer.refCnt());
    }

    @Test
    void isUnusableAfterTheLastRelease() {
        ByteBuf buffer = allocator.directBuffer(100).writeInt(42);
        assertThrows(IllegalReferenceCountException.class, () -> buffer.release(2));
        assertTrue(buffer.release());
        assertThrows(IllegalReferenceCountException.class, buffer::readInt);
        assertThrows(IllegalReferenceCountException.class, buffer::retain);
        assertThrows(IllegalReferenceCountException.class, buffer::release);
    }

    @Test
    void referencesHaveALimit_andNoNumberBelowOne() {
        ByteBuf buffer = allocator.directBuffer(100).retain(Integer.MAX_VALUE - 1);
        assertThrows(IllegalReferenceCountException.class, buffer::retain);
        assertThrows(IllegalReferenceCountException.class, () -> buffer.release(0));
        assertThrows(IllegalReferenceCountException.class, () -> buffer.retain(-1));
        assertTrue(buffer.release(Integer.MAX_VALUE));
    }

    @Test
    void threadsThatGiveUpTheirsAtOnceFreeItOnce() {
        for (int round = 0; round < 100; round++) {
            ByteBuf buffer = allocator.directBuffer(100);
            List<CompletableFuture<Boolean>> all = new ArrayList<>();
            for (int thread = 0; thread < 3; thread++) {
                buffer.retain();
                all.add(CompletableFuture.supplyAsync(buffer::release));
            }
            boolean last = buffer.release();
            int freed = last ? 1 : 0;
            for (CompletableFuture<Boolean> one : all) {
                freed += one.join() ? 1 : 0;
            }
            assertEquals(1, freed);
        }
    }
}
