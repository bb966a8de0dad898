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

    /**
     * Like {@link #crc32c}, for a buffer that no other thread uses. Allocates no view of the buffer: its indices change
     * during the call.
     */
    public static int crc32cUnshared(ByteBuffer buffer, int index, int length) {
        int position = buffer.position();
        int limit = buffer.limit();
        CRC32C crc = new CRC32C();
        crc.update(buffer.limit(index + length).position(index));
        buffer.limit(limit).position(position);
        return (int) crc.getValue();
    }
}
