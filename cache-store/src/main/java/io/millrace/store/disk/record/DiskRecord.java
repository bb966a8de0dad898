package io.millrace.store.disk.record;

import io.netty.buffer.ByteBuf;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * A verified record: header, extension, key and head, and the content if it was read too.
 *
 * <p>Owns its buffer until {@link #release}. Confined to one thread.
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

    /** Returns the header. */
    public RecordHeader header() {
        return header;
    }

    /** Returns true if the record has this key. */
    public boolean hasKey(byte[] key) {
        return Arrays.equals(key, key());
    }

    /** Returns the key's bytes. */
    public byte[] key() {
        byte[] key = new byte[header.keyLength()];
        buffer.getBytes(header.metaOffset() + header.extensionLength(), key);
        return key;
    }

    /** Returns the encoded head; borrowed. */
    public ByteBuf head() {
        int at = header.metaOffset() + header.extensionLength() + header.keyLength();
        return buffer.slice(at, header.headLength());
    }

    /** Returns the place of the body. Valid only for a HEAD record. */
    public BodyPlace place() throws DamagedRecordException {
        int at = header.metaOffset();
        return BodyPlace.decode(
                buffer.nioBuffer(at, header.extensionLength()).order(ByteOrder.LITTLE_ENDIAN), 0, header);
    }

    /** Returns true if the content was read and verified. */
    public boolean hasContent() {
        return hasContent;
    }

    /** Returns the content; borrowed. */
    public ByteBuf content() {
        assert hasContent;
        return buffer.slice(header.contentOffset(), header.contentLength());
    }

    /** Releases the buffer. */
    public void release() {
        buffer.release();
    }
}
