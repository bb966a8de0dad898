package io.millrace.proxy.exchange.forward;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class HeldContentTest {
    private final HeldContent.Budget budget = new HeldContent.Budget();

    private HeldContent held(int bytesMax) {
        return new HeldContent(UnpooledByteBufAllocator.DEFAULT, budget, bytesMax);
    }

    private static ByteBuf piece(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
    }

    @Test
    void piecesAreJoinedUntilThereIsEnough() {
        HeldContent held = held(4);
        assertTrue(held.add(piece("ab")));
        assertTrue(held.add(piece("c")));
        ByteBuf last = piece("de");
        assertFalse(held.add(last));
        assertEquals(0, last.refCnt());
        ByteBuf all = held.take();
        assertNotNull(all);
        assertEquals("abcde", all.toString(StandardCharsets.US_ASCII));
        all.release();
        assertEquals(0, budget.bytes());
        assertNull(held.take());
    }

    /** A single byte costs little more than itself, and all of them together at most the budget. */
    @Test
    void aLoopsRequestsHoldNoMoreThanItsBudget() {
        List<HeldContent> all = new ArrayList<>();
        HeldContent next = held(1 << 19);
        while (next.add(Unpooled.wrappedBuffer(new byte[1000]))) {
            all.add(next);
            next = held(1 << 19);
        }
        all.add(next);
        assertTrue(all.size() > HeldContent.Budget.BYTES_MAX / 2048, () -> all.size() + " requests");
        assertTrue(budget.bytes() < HeldContent.Budget.BYTES_MAX + 2048, () -> budget.bytes() + " bytes");
        all.forEach(HeldContent::drop);
        assertEquals(0, budget.bytes());
    }
}
