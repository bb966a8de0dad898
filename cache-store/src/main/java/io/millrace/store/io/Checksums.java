package io.millrace.store.io;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** CRC32C (Castagnoli, RFC 3720 appendix B.4) over parts of buffers, the only checksum of the store's formats. */
public final class Checksums {
    private Checksums() {}

    /** Returns the CRC32C of {@code length} bytes from absolute {@code index}; does not change the buffer's indices. */
    public static int crc32c(ByteBuffer buffer, int index, int length) {
        CRC32C crc = new CRC32C();
        crc.update(buffer.slice(index, length));
        return (int) crc.getValue();
    }
}
