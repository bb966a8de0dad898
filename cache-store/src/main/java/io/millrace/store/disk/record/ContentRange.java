package io.millrace.store.disk.record;

/**
 * A byte range of one record's content, with the object id and block that the record must have.
 *
 * <p>Immutable.
 *
 * @param objectId id of the object that the record must belong to
 * @param block number of the block, {@link #NO_BLOCK} for the content of a COMPLETE record
 * @param from first byte within the content
 * @param length number of bytes, at least one
 */
public record ContentRange(long objectId, int block, int from, int length) {
    /** Value of {@code block} for content that is the whole body. */
    public static final int NO_BLOCK = -1;

    /** Returns true if the header belongs to the expected record, and the record contains the whole range. */
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
