package io.millrace.store.io;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** Computes the checksum of all formats of the store: CRC32C (Castagnoli, RFC 3720 appendix B.4). */
public final class Checksums {
    private Checksums() {}

    /** Returns the CRC32C of {@code length} bytes from absolute {@code index}; does not change the buffer's indices. */
    public static int crc32c(ByteBuffer buffer, int index, int length) {
        CRC32C crc = new CRC32C();
        crc.update(buffer.slice(index, length));
        return (int) crc.getValue();
    }
}
