package io.millrace.store.disk.record;

/**
 * A part of one record's content, and whose content it must be.
 *
 * <p>Immutable.
 *
 * @param objectId the representation
 * @param block number of the block, {@link #NO_BLOCK} for the content of a COMPLETE record
 * @param from first byte within the content
 * @param length number of bytes, at least one
 */
public record ContentRange(long objectId, int block, int from, int length) {
    /** The content is the whole body. */
    public static final int NO_BLOCK = -1;

    /** Whether a record with that header is the one meant, and holds the whole range. */
    public boolean matches(RecordHeader header) {
        boolean rightType = block == NO_BLOCK
                ? header.type() == RecordType.COMPLETE
                : header.type() == RecordType.BLOCK && header.blockNumber() == block;
        return rightType
                && header.objectId() == objectId
                && from >= 0
                && length > 0
                && length <= header.contentLength() - from;
    }
}
