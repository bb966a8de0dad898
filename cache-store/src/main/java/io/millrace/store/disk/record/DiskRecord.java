package io.millrace.store.disk.record;

import io.netty.buffer.ByteBuf;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * A record that was read and checked: header, extension, key and head always, the content when it came along.
 *
 * <p>Owns a buffer until {@link #release}. Confined to one thread.
 */
public final class DiskRecord {
    private final RecordHeader header;
    private final ByteBuf buffer;
    private final boolean hasContent;

    /** Takes ownership of the buffer, which starts with the record. */
    public DiskRecord(RecordHeader header, ByteBuf buffer, boolean hasContent) {
        this.header = header;
        this.buffer = buffer;
        this.hasContent = hasContent;
    }

    /** The header. */
    public RecordHeader header() {
        return header;
    }

    /** Whether the record is that of the key. */
    public boolean hasKey(byte[] key) {
        return Arrays.equals(key, key());
    }

    /** The key's bytes. */
    public byte[] key() {
        byte[] key = new byte[header.keyLength()];
        buffer.getBytes(header.metaOffset() + header.extensionLength(), key);
        return key;
    }

    /** The encoded head; borrowed. */
    public ByteBuf head() {
        int at = header.metaOffset() + header.extensionLength() + header.keyLength();
        return buffer.slice(at, header.headLength());
    }

    /** Where the body lies; for HEAD only. */
    public BodyPlace place() throws DamagedRecordException {
        int at = header.metaOffset();
        return BodyPlace.decode(
                buffer.nioBuffer(at, header.extensionLength()).order(ByteOrder.LITTLE_ENDIAN), 0, header);
    }

    /** Whether the content was read along, and verified. */
    public boolean hasContent() {
        return hasContent;
    }

    /** The content; borrowed. */
    public ByteBuf content() {
        assert hasContent;
        return buffer.slice(header.contentOffset(), header.contentLength());
    }

    /** Gives up the buffer. */
    public void release() {
        buffer.release();
    }
}
