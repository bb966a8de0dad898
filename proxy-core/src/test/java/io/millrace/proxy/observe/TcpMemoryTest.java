package io.millrace.proxy.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class TcpMemoryTest {
    @Test
    void pagesAreReadFromTheKernelsText() {
        String text = "sockets: used 1959\nTCP: inuse 554 orphan 0 tw 2148 alloc 1109 mem 467949\nUDP: inuse 2 mem 7\n";
        assertEquals(467_949, TcpMemory.pages(text));
        assertEquals(0, TcpMemory.pages("sockets: used 3\nTCP: inuse 5\n"));
        assertEquals(0, TcpMemory.pages("TCP: inuse 5 mem many\n"));
    }

    @Test
    void limitIsBelowTheOneFromWhichTheKernelSlowsDown() {
        assertTrue(TcpMemory.pagesMax("287898\t383867\t575796\n") < 287_898);
        assertTrue(TcpMemory.pagesMax("287898\t383867\t575796\n") > 200_000);
        assertEquals(Long.MAX_VALUE, TcpMemory.pagesMax(""));
        assertEquals(Long.MAX_VALUE, TcpMemory.pagesMax("0 0 0"));
    }
}
