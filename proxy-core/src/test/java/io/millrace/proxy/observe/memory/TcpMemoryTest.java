package io.millrace.proxy.observe.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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

    /**
     * A file in /proc/sys ends after the first read. With reads of one byte, only 2 of 287898 was read, and memory
     * seemed always short.
     */
    @Test
    void limitsOfThisMachineAreReadWhole() throws IOException {
        Path limits = Path.of("/proc/sys/net/ipv4/tcp_mem");
        assumeTrue(Files.isReadable(limits), "no Linux");
        assertEquals(3, TcpMemory.readOnce(limits).trim().split("\\s+").length);
    }
}
