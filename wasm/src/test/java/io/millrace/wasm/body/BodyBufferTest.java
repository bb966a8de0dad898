package io.millrace.wasm.body;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.wasm.abi.Status;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
}
