package io.millrace.proxy.admin.purge;

import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.purge.record.PurgeRecord;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Purges that were made, and dry runs. Thread-safe. */
public interface PurgeControl {
    /**
     * The latest purges, newest first. Blocks.
     *
     * @param before only purges older than the one with this identifier; null for all
     * @param limit at most this many
     * @throws AdminException when none has that identifier, or the records cannot be read
     */
    List<PurgeView> latest(@Nullable String before, int limit) throws AdminException;

    /**
     * One purge or dry run. Blocks.
     *
     * @throws AdminException when none has that identifier, or the records cannot be read
     */
    PurgeView find(String id) throws AdminException;

    /**
     * Undoes a soft purge. Blocks until it is found; the stage completes when the undo is durable.
     *
     * @throws AdminException when there is no such purge, or it cannot be undone
     */
    CompletionStage<PurgeView> undo(String id, AdminCaller caller) throws AdminException;

    /**
     * Stops the count of a purge or a dry run. Blocks.
     *
     * @throws AdminException when there is no such purge, or nothing of it is in progress
     */
    PurgeView cancel(String id, AdminCaller caller) throws AdminException;

    /**
     * A purge as it is now. Immutable.
     *
     * @param record what was asked for
     * @param undoUntilMillis until when it can be undone, epoch milliseconds; 0 when it cannot
     * @param count the count of its objects; null when there is none in this process
     */
    record PurgeView(
            PurgeRecord record,
            long undoUntilMillis,
            @Nullable Count count) {}

    /**
     * A count. Immutable.
     *
     * @param objects objects that are covered, as far as the inventory was read
     * @param bytes their body bytes
     * @param urls the first of their URLs
     * @param examined inventory entries read so far
     * @param entries inventory entries in all, about
     * @param isOver whether it has ended
     * @param note why the count may be too low, for people; null when it is exact
     */
    record Count(
            long objects,
            long bytes,
            List<String> urls,
            long examined,
            long entries,
            boolean isOver,
            @Nullable String note) {}
}
