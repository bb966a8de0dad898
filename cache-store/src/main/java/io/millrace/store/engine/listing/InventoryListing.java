package io.millrace.store.engine.listing;

import io.millrace.store.ListCallback;
import io.millrace.store.ListResult;
import io.millrace.store.ListVisitor;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A listing of stored objects that is in progress. Each step processes one block of entries of a volume's inventory (its
 * table of stored objects). Between steps the inventory's thread writes new entries.
 *
 * <p>Confined to the inventory's thread.
 */
final class InventoryListing<H> {
    private static final Logger LOG = LoggerFactory.getLogger(InventoryListing.class);

    private final ListVisitor visitor;
    private final Executor replyOn;
    private final ListCallback reply;
    private final ListScan.NewestEnd end = new ListScan.NewestEnd();
    private ListCursor cursor;
    /** False if objects may be missing from the result. */
    private boolean whole = true;

    private @Nullable String obstacle;

    /** Creates a listing that has not begun. */
    InventoryListing(ListCursor from, ListVisitor visitor, Executor replyOn, ListCallback reply) {
        this.cursor = from;
        this.visitor = visitor;
        this.replyOn = replyOn;
        this.reply = reply;
    }

    /**
     * Performs one step; false if the listing has ended and replied.
     *
     * @param volumesHash hash of the volumes and their order
     */
    boolean step(List<VolumeInventory<H>> volumes, int volumesHash) {
        try {
            if (cursor.volumesHash() != volumesHash && !volumes.isEmpty()) {
                if (!cursor.equals(ListCursor.START)) {
                    end("the storage paths changed during the listing; list again from the beginning");
                    return false;
                }
                cursor = cursor.onVolumes(volumesHash);
            }
            if (volumes.isEmpty() && obstacle == null) {
                obstacle = "the volumes are being handed over to another worker; try again";
            }
            while (cursor.volume() < volumes.size()) {
                VolumeInventory<H> volume = volumes.get(cursor.volume());
                ListScan scan = volume.scan();
                ListCursor from = cursor.last() == 0 ? cursor.until(scan.lastSegmentOfListing()) : cursor;
                ListScan.Scanned scanned = volume.isOpen() ? scan.scan(from, visitor, end) : null;
                if (scanned != null) {
                    return show(scanned);
                }
                whole &= scan.isWhole(from);
                obstacle = volume.isOpen() ? obstacle : volume.obstacle();
                cursor = cursor.atVolume(cursor.volume() + 1);
            }
            answer(null);
        } catch (RuntimeException | Error e) {
            LOG.warn("a listing of stored objects failed", e);
            end("the listing failed: " + e);
        }
        return false;
    }

    private boolean show(ListScan.Scanned scanned) {
        whole &= scanned.isWhole();
        for (ListScan.Found found : scanned.found()) {
            if (!visitor.visit(found.object())) {
                answer(found.after());
                return false;
            }
        }
        cursor = scanned.next();
        if (visitor.continues()) {
            return true;
        }
        answer(cursor);
        return false;
    }

    private void answer(@Nullable ListCursor next) {
        reply(new ListResult(next == null ? null : next.text(), whole, obstacle));
    }

    /** Ends the listing with a failure. */
    void end(String why) {
        reply(new ListResult(null, false, why));
    }

    private void reply(ListResult result) {
        try {
            replyOn.execute(() -> reply.listed(result));
        } catch (RejectedExecutionException e) {
            LOG.debug("the result of a listing is dropped, because its executor has shut down");
        }
    }
}
