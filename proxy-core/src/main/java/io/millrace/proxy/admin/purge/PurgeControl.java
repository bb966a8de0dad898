package io.millrace.proxy.admin.purge;

import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.purge.record.PurgeRecord;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Queries and changes of earlier purges and dry runs. Thread-safe. */
public interface PurgeControl {
    /**
     * Returns the latest purges, newest first. Blocks.
     *
     * @param before only purges older than the one with this identifier; null for all
     * @param limit limit of the result
     * @throws AdminException if no purge has that identifier, or the records cannot be read
     */
    List<PurgeView> latest(@Nullable String before, int limit) throws AdminException;

    /**
     * Returns one purge or dry run. Blocks.
     *
     * @throws AdminException if no purge has that identifier, or the records cannot be read
     */
    PurgeView find(String id) throws AdminException;

    /**
     * Undoes a soft purge. Blocks while it reads the records; the stage completes when the undo is durable.
     *
     * @throws AdminException if there is no such purge, or it cannot be undone
     */
    CompletionStage<PurgeView> undo(String id, AdminCaller caller) throws AdminException;

    /**
     * Ends a purge by pattern whose sweep (the removal of covered objects in the background) is not complete, or stops
     * a count. A count belongs to a purge or to a dry run. Blocks while it reads the records; the stage completes when
     * the cancellation is durable.
     *
     * @throws AdminException if there is no such purge, or if no count and no sweep is in progress
     */
    CompletionStage<PurgeView> cancel(String id, AdminCaller caller) throws AdminException;

    /**
     * The present state of a purge. Immutable.
     *
     * @param record the record
     * @param undoUntilMillis end of the undo window in epoch milliseconds; 0 if it cannot be undone
     * @param count the count of its objects; null if this process has none
     * @param sweep progress of a purge by pattern: waiting (while it can still be undone), running, done, or covered by
     *     a purge of everything; otherwise null
     */
    record PurgeView(
            PurgeRecord record,
            long undoUntilMillis,
            @Nullable Count count,
            @Nullable String sweep) {}

    /**
     * A count. Immutable.
     *
     * @param objects covered objects in the entries read so far
     * @param bytes body bytes of these objects
     * @param urls the first URLs of these objects, each once
     * @param hasMoreUrls whether these objects have more URLs than {@code urls}
     * @param examined entries read so far in the inventory (the table of stored objects)
     * @param entries approximate number of inventory entries
     * @param isOver whether the count has ended
     * @param note reason why the count may be too low; null if it is exact
     */
    record Count(
            long objects,
            long bytes,
            List<String> urls,
            boolean hasMoreUrls,
            long examined,
            long entries,
            boolean isOver,
            @Nullable String note) {}
}
