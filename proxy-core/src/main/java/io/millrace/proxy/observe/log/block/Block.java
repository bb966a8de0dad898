package io.millrace.proxy.observe.log.block;

import org.jspecify.annotations.Nullable;

/**
 * A view of a complete block with a valid checksum, in the buffer of a {@link BlockScanner}. Valid until the scanner
 * continues.
 *
 * @param bytes the buffer; borrowed
 * @param start the position of the block in the buffer
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record Block(byte[] bytes, int start) {
    /** Returns the schema, if this block contains one; else null. */
    @Nullable
    BlockSchema schema() throws BlockFailure {
        return kind() == BlockLayout.KIND_SCHEMA
                ? BlockSchema.parse(bytes, start + BlockLayout.HEAD_BYTES, payloadBytes())
                : null;
    }

    private int kind() {
        return bytes[start + BlockLayout.VERSION_OFFSET + 1];
    }

    int payloadBytes() {
        return BlockLayout.intAt(bytes, start + BlockLayout.LENGTH_OFFSET);
    }

    int schemaId() {
        return BlockLayout.intAt(bytes, start + BlockLayout.SCHEMA_OFFSET);
    }

    /** The number of rows. */
    public int rows() {
        return BlockLayout.intAt(bytes, start + BlockLayout.ROWS_OFFSET);
    }

    /** The time of the first row in epoch milliseconds. */
    public long firstTime() {
        return BlockLayout.longAt(bytes, start + BlockLayout.TIME_OFFSET);
    }
}
