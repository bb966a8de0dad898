package io.millrace.proxy.admin.cache;

import io.millrace.proxy.admin.resource.AdminException;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** The storage paths of a running proxy; takes them offline and online. Thread-safe; never blocks. */
public interface StorageControl {
    /** Returns all configured volumes in the order of the configuration. */
    List<Volume> volumes();

    /**
     * Takes a storage path and its shares offline. A share is a volume that uses a part of the storage path.
     *
     * @param path the configured storage path, or the directory of a single share
     * @param reason the reason, shown in the status
     * @return the changed volumes, when the proxy has closed their files; or an {@link AdminException}
     */
    CompletionStage<List<Volume>> offline(String path, String reason);

    /**
     * Takes the offline volumes of a storage path and its shares online. An operator or an error may have taken them
     * offline.
     *
     * @return the changed volumes, when they are in use; or an {@link AdminException}
     */
    CompletionStage<List<Volume>> online(String path);

    /**
     * One volume. Immutable.
     *
     * @param path the storage path
     * @param volume the name of the volume: {@code default}, or the configured name of a share
     * @param placement fraction, 0 to 1, of the volume's new objects that are stored in this path
     * @param state {@code opening}, {@code online}, {@code suspended} or {@code offline}
     * @param bytes bytes of segments with records
     * @param bytesMax bytes of all segments
     * @param entries number of objects
     * @param pinnedSegments number of segments that readers use
     * @param queuedBytes bytes that wait to be written
     * @param writtenBytes bytes of records written since the store was opened
     * @param carriedBytes the part of {@code writtenBytes} that was copied from reclaimed segments
     * @param reclaimedSegments number of segments that were reclaimed
     * @param refused number of new objects that did not fit into the full volume
     * @param pinnedBytes bytes of pinned objects, which a rule keeps on disk for a time; replaced and purged ones count
     *     until their segment is reclaimed
     * @param pinsBroken number of pinned objects that were dropped because the pinned bytes exceeded a limit
     * @param indexEvictions objects removed because the index was full and could not grow
     * @param errors I/O errors so far
     * @param lastError the last I/O error, or the reason why the volume is offline; null for none
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
