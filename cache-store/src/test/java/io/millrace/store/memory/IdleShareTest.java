package io.millrace.store.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.memory.MemoryBudget.Part;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;

class IdleShareTest {
    private static final int MIB = 1 << 20;

    @Test
    void growsByTheExcessButNoFasterThanBuffersAreReplaced() {
        IdleShare share = new IdleShare(1000);
        assertEquals(0, share.update(1000, 500));
        assertEquals(40, share.update(1040, 500));
        assertEquals(50, share.update(1040, 20));
        assertEquals(50, share.update(1040, 0));
    }

    @Test
    void isHalfOfTheBudgetAtMost() {
        IdleShare share = new IdleShare(1000);
        assertEquals(500, share.update(9000, 9000));
    }

    @Test
    void shrinksSlowlyWhenThereIsRoom() {
        IdleShare share = new IdleShare(1000);
        share.update(1200, 1000);
        assertEquals(200, share.update(980, 1000));
        assertEquals(175, share.update(900, 1000));
        assertEquals(170, share.update(900, 40));
        assertEquals(170, share.update(900, 0));
        for (int i = 0; i < 100; i++) {
            share.update(0, 1000);
        }
        assertEquals(0, share.update(0, 1000));
    }

    /** Bodies with the lengths of web objects, most of them small, are stored and evicted in a small tier. */
    @Test
    void chunksStayWithinTheBudgetHoweverSmallThePiecesAre() {
        MemoryBudget budget = new MemoryBudget(64 * MIB);
        BodyPool pool = new BodyPool(null, budget.bytesMax());
        budget.chunks(pool::chunkBytes);
        CountingAllocator filling = new CountingAllocator(pool, budget, Part.FILLING);
        RamTier<RamEntry> tier = new RamTier<>(64 * MIB, budget, Runnable::run);
        Random random = new Random(7);
        long put = 0;
        long most = 0;
        for (int number = 0; put < 8L * 64 * MIB; number++) {
            int length = (int) Math.min(MIB, 1500 / Math.pow(1 - random.nextDouble(), 0.9));
            byte[] key = ("key" + number).getBytes(StandardCharsets.US_ASCII);
            ByteBuf body = filling.directBuffer(length).writerIndex(length);
            RamEntry entry = new RamEntry(key, number * 0x9E37_79B9_7F4A_7C15L, body, 0) {};
            tier.put(entry);
            entry.releaseEntry();
            put += length;
            if (number % 400 == 0) {
                // Some are requested again, so that evicted bodies lie between kept ones.
                for (int i = 0; i < 200; i++) {
                    int again = random.nextInt(number + 1);
                    RamEntry hit = tier.get(
                            again * 0x9E37_79B9_7F4A_7C15L, ("key" + again).getBytes(StandardCharsets.US_ASCII));
                    if (hit != null) {
                        hit.releaseEntry();
                    }
                }
                tier.drainHits();
                tier.resize();
                most = put > 4L * 64 * MIB ? Math.max(most, pool.chunkBytes() + budget.bytes(Part.ENTRIES)) : 0;
            }
        }
        long used = budget.totalBytes();
        tier.clear();
        long worst = most;
        System.out.println("chunks at most " + worst * 100 / budget.bytesMax() + "% of the budget, in use at the end "
                + used * 100 / budget.bytesMax() + "%");
        assertTrue(worst < budget.bytesMax() + budget.bytesMax() / 20, () -> "chunks and entries: " + worst);
        assertTrue(used > budget.bytesMax() / 3, () -> "in use: " + used);
    }
}
