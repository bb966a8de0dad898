package io.millrace.proxy.admin.cache;

import io.millrace.proxy.admin.resource.AdminException;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** The storage paths of a running proxy, and how to take one out and bring it back. Thread-safe; never blocks. */
public interface StorageControl {
    /** Every configured volume, in the order of the configuration. */
    List<Volume> volumes();

    /**
     * Takes a storage path out of use, with the shares below it; completes when nothing of the proxy has its files open.
     *
     * @param path the storage path as configured; or the directory of a share, for that alone
     * @param reason kept for the status
     * @return the volumes that it changed, as they are afterwards, or an {@link AdminException}
     */
    CompletionStage<List<Volume>> offline(String path, String reason);

    /**
     * Brings back what is offline of a storage path and its shares, whatever took it out; completes when it is in use.
     *
     * @return as of {@link #offline}
     */
    CompletionStage<List<Volume>> online(String path);

    /**
     * One volume. Immutable.
     *
     * @param path its storage path
     * @param volume the name whose objects it takes: {@code default}, or one that the configuration gives a share
     * @param placement its part, 0 to 1, of the new objects of that name
     * @param state {@code opening}, {@code online}, {@code suspended} or {@code offline}
     * @param bytes bytes of its segments that hold records
     * @param bytesMax bytes of its segments
     * @param entries number of objects
     * @param pinnedSegments segments that readers hold
     * @param queuedBytes bytes waiting to be written
     * @param writtenBytes bytes of records written since the store was opened
     * @param carriedBytes of them, those kept from segments given up
     * @param reclaimedSegments segments given up
     * @param refused new objects that the full volume did not take
     * @param pinnedBytes bytes of pinned objects, those replaced or purged included until their segment is given up
     * @param pinsBroken records given up although they were pinned
     * @param indexEvictions objects that went because the index was full and could not grow
     * @param errors I/O errors so far
     * @param lastError the last of them, or why it is offline; null when there is nothing to say
     */
    record Volume(
            String path,
            String volume,
            double placement,
            String state,
            long bytes,
            long bytesMax,
            long entries,
            int pinnedSegments,
            long queuedBytes,
            long writtenBytes,
            long carriedBytes,
            long reclaimedSegments,
            long refused,
            long pinnedBytes,
            long pinsBroken,
            long indexEvictions,
            long errors,
            @Nullable String lastError) {}
}
