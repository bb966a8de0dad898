package io.millrace.wasm.body;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.millrace.wasm.abi.Status;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the content that a module sees, and the limits of its size. */
class BodyBufferTest {
    private final HeldBytes all = new HeldBytes();
    private final BodyBuffer body = new BodyBuffer(10, all);

    private static byte[] bytes(String text) {
        return text.getBytes(US_ASCII);
    }

    private String text() {
        return new String(body.copy(0, Long.MAX_VALUE), US_ASCII);
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0, new, newabcdef",
        "0, 6, new, new",
        "0, 4294967295, new, new",
        "0, 2, new, newcdef",
        "2, 2, new, abnewef",
        "2, 2, n, abnef",
        "2, 100, '', ab",
        "6, 0, new, abcdefnew",
        "4294967295, 0, new, abcdefnew",
        "4294967295, 4294967295, new, abcdefnew",
        "0, 6, '', ''",
    })
    void bytesAreReplaced(long start, long size, String value, String expected) {
        assertTrue(body.append(bytes("abc"), false));
        assertTrue(body.append(bytes("def"), false));
        assertFalse(body.isChanged());
        assertEquals(Status.OK, body.replace(start, size, bytes(value)));
        assertTrue(body.isChanged());
        assertEquals(expected, text());
        assertEquals(expected.length(), body.length());
        body.release();
        assertEquals(0, body.length());
        assertTrue(body.append(bytes("g"), true));
        assertTrue(body.isEnd());
        body.release();
        assertEquals(expected + "g", new String(body.takeReleased(), US_ASCII));
        assertEquals(0, body.takeReleased().length);
        assertEquals(0, all.bytes());
    }

    @Test
    void partsAreCopied() {
        assertTrue(body.append(bytes("abcdef"), false));
        assertEquals("cd", new String(body.copy(2, 2), US_ASCII));
        assertEquals("ef", new String(body.copy(4, 0xffff_ffffL), US_ASCII));
        assertEquals(0, body.copy(6, 1).length);
    }

    @Test
    void theGrowthIsLimited() {
        int most = (1 << 20) + 4;
        assertTrue(body.append(bytes("ab"), false));
        assertTrue(body.hasRoom(0, 2, most));
        assertFalse(body.hasRoom(0, 2, most + 1));
        assertFalse(body.hasRoom(0, 0, most), "the content stays");
        assertEquals(Status.OK, body.replace(0, 2, new byte[most]));
        assertTrue(body.hasRoom(0, most, most), "it replaces the value");
        assertFalse(body.hasRoom(most, 0, 1));
        body.release();
        assertFalse(body.hasRoom(0, 0, 1), "the released content counts");
        assertEquals(most, body.takeReleased().length);
        assertTrue(body.hasRoom(0, 0, 1 << 20));
    }

    @Test
    void theLimitOfHeldContent() {
        assertTrue(body.append(new byte[10], false));
        assertFalse(body.isOverLimit());
        assertTrue(body.append(new byte[1], false));
        assertTrue(body.isOverLimit());
        body.release();
        assertFalse(body.isOverLimit());
    }

    @Test
    void allContentsShareALimit() {
        BodyBuffer other = new BodyBuffer(10, all);
        assertTrue(other.append(new byte[(int) HeldBytes.BYTES_MAX - 10], false));
        assertTrue(body.append(new byte[10], false));
        assertEquals(HeldBytes.BYTES_MAX, all.bytes());
        assertEquals(Status.INTERNAL_FAILURE, body.replace(0, 0, new byte[1]));
        assertEquals(10, body.length());
        assertFalse(body.append(new byte[1], false));
        assertEquals(11, body.length(), "the proxy passes it on");
        other.close();
        assertTrue(other.isClosed());
        other.close();
        assertFalse(other.append(new byte[1], false), "after the end");
        assertTrue(body.append(new byte[10], false));
        body.close();
        assertEquals(0, all.bytes());
    }

    /** Otherwise the thread of the instance copies all earlier pieces for each piece. */
    @ParameterizedTest
    @ValueSource(ints = {16 << 10, 1 << 20})
    void earlierPiecesAreCopiedFewTimes(int pieceBytes) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        byte[] piece = new byte[pieceBytes];
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < 32; i++) {
            assertTrue(body.append(piece, false));
        }
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;
        assertTrue(allocated < 6L * 32 * pieceBytes + 10_000, "allocated=" + allocated);
    }

    /** The key {@code body_limit} may be as large as the limit for all contents. */
    @ParameterizedTest
    @ValueSource(ints = {16 << 10, 1 << 20})
    void oneContentMayHaveTheLimitOfAll(int pieceBytes) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        byte[] piece = new byte[pieceBytes];
        long before = threads.getCurrentThreadAllocatedBytes();
        for (long bytes = pieceBytes; bytes <= HeldBytes.BYTES_MAX; bytes += pieceBytes) {
            assertTrue(body.append(piece, false), "bytes=" + bytes);
            assertTrue(all.bytes() >= bytes && all.bytes() <= HeldBytes.BYTES_MAX, "bytes=" + bytes);
        }
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;
        assertTrue(allocated < 20 * HeldBytes.BYTES_MAX, "allocated=" + allocated);
        assertFalse(body.append(new byte[1], false));
        assertEquals((int) HeldBytes.BYTES_MAX + 1, body.length());
    }

    /** The proxy limits each output to twice the input since the last output, plus 1 MiB. */
    @ParameterizedTest
    @CsvSource({"1, false", "1000, false", "524288, false", "524289, true", "3000000, true"})
    void contentBehindTheReleasedOneIsWithinTheLimitOfTheNextOutput(int pieceBytes, boolean isLater) {
        int most = 1 << 20;
        assertTrue(body.append(bytes("first"), false));
        body.release();
        assertTrue(body.append(new byte[pieceBytes], false));
        int written = 2 * pieceBytes;
        assertTrue(body.hasRoom(0, pieceBytes, written));
        assertEquals(Status.OK, body.replace(0, pieceBytes, new byte[written]));
        int input = pieceBytes + 5;
        int output = body.takeReleased().length;
        assertEquals(isLater ? 0 : 5, output);
        input = output > 0 ? 0 : input;
        assertTrue(body.append(bytes("last"), true));
        input += 4;
        body.release();
        int rest = body.takeReleased().length;
        assertEquals(5 + written + 4, output + rest);
        assertTrue(rest <= 2L * input + most, "rest=" + rest);
        assertEquals(0, all.bytes());
    }
}
