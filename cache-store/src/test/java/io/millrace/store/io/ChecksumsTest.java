package io.millrace.store.io;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ChecksumsTest {
    @Test
    void bothMethodsReturnTheCheckValue_RFC3720_B_4() {
        for (boolean direct : new boolean[] {true, false}) {
            ByteBuffer buffer = direct ? ByteBuffer.allocateDirect(40) : ByteBuffer.allocate(40);
            buffer.put(7, "123456789".getBytes(StandardCharsets.US_ASCII));
            buffer.position(20).limit(30);
            assertEquals(0xE306_9283, Checksums.crc32cUnshared(buffer, 7, 9));
            assertEquals(20, buffer.position());
            assertEquals(30, buffer.limit());
            assertEquals(0xE306_9283, Checksums.crc32c(buffer, 7, 9));
        }
    }
}
