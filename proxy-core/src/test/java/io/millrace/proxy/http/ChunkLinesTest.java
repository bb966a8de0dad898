package io.millrace.proxy.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** Tests the bytes around contents, however they are split. */
class ChunkLinesTest {
    private final ChunkLines lines = new ChunkLines();

    @Test
    void contentIsNoLine() {
        assertEquals(4, lines.after(104, 0, true, 100));
        assertEquals(0, lines.after(50, 0, true, 50));
        assertEquals(6, lines.after(56, 0, true, 50));
    }

    @Test
    void linesThatComeInPiecesAddUp() {
        assertEquals(10, lines.after(10, 0, false, 0));
        assertEquals(30, lines.after(25, 5, false, 0));
        assertEquals(40, lines.after(110, 0, true, 100));
        assertEquals(3, lines.after(3, 0, false, 0));
    }

    @Test
    void aLineThatHasNotEndedCountsOnce() {
        assertEquals(10, lines.after(10, 10, false, 0));
        assertEquals(20, lines.after(20, 20, false, 0));
        assertEquals(21, lines.after(21, 0, true, 0));
    }
}
