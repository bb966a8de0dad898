package io.millrace.proxy.http1;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.http.HeadScanner;
import io.millrace.proxy.net.BadRequest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/**
 * Tests that a head of 50,000 fields costs no more than its refusal: bytes beyond the limit are neither scanned nor
 * parsed.
 */
class HeadLimitTest {
    private static final int LINE_MAX = 8192;
    private static final int FIELDS_MAX = 32_768;
    private static final String START = "GET / HTTP/1.1\r\nHost: test.example\r\n";
    private static final byte[] HEAD =
            (START + "X-Field: 1\r\n".repeat(50_000) + "\r\n").getBytes(StandardCharsets.US_ASCII);

    /** Counts how far it is read. */
    private static final class Counted extends io.netty.buffer.UnpooledHeapByteBuf {
        private int furthest;

        Counted(byte[] bytes) {
            super(io.netty.buffer.UnpooledByteBufAllocator.DEFAULT, bytes, bytes.length);
        }

        @Override
        public int indexOf(int from, int to, byte value) {
            int found = super.indexOf(from, to, value);
            furthest = Math.max(furthest, found < 0 ? to : found);
            return found;
        }
    }

    @Test
    void scannerLooksNoFurtherThanItIsAllowedTo() {
        Counted in = new Counted(HEAD);
        HeadScanner scanner = new HeadScanner();
        assertEquals(HeadScanner.INCOMPLETE, scanner.scan(in, 1000));
        assertTrue(in.furthest <= 1000, () -> "looked at byte " + in.furthest);
        assertEquals(HeadScanner.INCOMPLETE, scanner.scan(in, 1000));
        assertEquals(HEAD.length, scanner.scan(in));
        in.release();
    }

    /**
     * However the head is split, the refusal follows the byte that exceeds the limit, and the rest is discarded unread.
     */
    @Test
    void refusalIsSentAtTheLimitAndTheRestIsDropped() {
        for (int piece : new int[] {1000, 16_384, 65_536, HEAD.length}) {
            BadRequest[] refused = {null};
            EmbeddedChannel channel = RefusalChannel.open(
                    new Http1Settings(LINE_MAX, FIELDS_MAX, 0, 0, 1, 1, 1, 1), reason -> refused[0] = reason);
            int sent = 0;
            while (refused[0] == null && sent < HEAD.length) {
                int length = Math.min(piece, HEAD.length - sent);
                channel.writeInbound(Unpooled.wrappedBuffer(HEAD, sent, length));
                sent += length;
            }
            assertEquals(BadRequest.HEADER_TOO_LARGE, refused[0]);
            int limit = 16 + FIELDS_MAX + 1;
            assertTrue(sent < limit + piece, "refused only after " + sent + " bytes");
            ByteBuf rest = Unpooled.wrappedBuffer(HEAD, 0, 1000);
            channel.writeInbound(rest);
            assertEquals(0, rest.refCnt());
            channel.finishAndReleaseAll();
            assertFalse(channel.isActive());
        }
    }
}
