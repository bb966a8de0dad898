package io.millrace.store;

import java.nio.file.Path;
import java.util.List;

/**
 * A stored object as recorded in the inventory, the table of stored objects.
 *
 * <p>Immutable; the caller owns the key's bytes.
 *
 * @param key the key's bytes
 * @param volume the storage path of the object
 * @param segment number of the segment with the object's newest record
 * @param offset offset of that record in its segment, in bytes
 * @param headLength length of the encoded head in bytes
 * @param bodyLength length of the whole body in bytes, -1 while unknown
 * @param isWhole whether the whole body is stored
 * @param expiresAtSeconds time at which the object is no longer worth keeping, in seconds since the epoch
 * @param summary the codec's summary of the head
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record ListedObject(
        byte[] key,
        Path volume,
        int segment,
        long offset,
        int headLength,
        long bodyLength,
        boolean isWhole,
        long expiresAtSeconds,
        HeadSummary summary) {
    /** Returns the tags of the summary. */
    public List<String> tags() {
        return summary.tags();
    }
}
