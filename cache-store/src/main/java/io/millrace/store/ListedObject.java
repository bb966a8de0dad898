package io.millrace.store;

import java.nio.file.Path;
import java.util.List;

/**
 * One stored object as the inventory knows it.
 *
 * <p>Immutable; the key's bytes are the caller's from now on.
 *
 * @param key the key's bytes
 * @param volume the storage path that holds it
 * @param segment number of the segment that holds its newest record
 * @param offset bytes from the segment's start to that record
 * @param headLength length of the encoded head in bytes
 * @param bodyLength length of the whole body in bytes, -1 while unknown
 * @param isWhole whether all of the body is stored
 * @param expiresAtSeconds when it stops being worth keeping, in seconds since the epoch
 * @param summary what its owner said of the head
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
    /** The tags. */
    public List<String> tags() {
        return summary.tags();
    }
}
