package io.millrace.store.engine.listing;

import io.millrace.store.ListCallback;
import io.millrace.store.ListResult;
import io.millrace.store.ListVisitor;
import io.millrace.store.ListedObject;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A listing of stored objects that is in progress. Each step processes one segment of the map in a volume's inventory
 * (its table of stored objects). Between steps the inventory's thread applies changes.
 *
 * <p>Confined to the inventory's thread.
 */
final class InventoryListing<H> {
    private static final Logger LOG = LoggerFactory.getLogger(InventoryListing.class);

    private final long changesBefore;
    private final ListVisitor visitor;
    private final Executor replyOn;
    private final ListCallback reply;
    private ListCursor cursor;
    private boolean whole = true;
    private @Nullable String obstacle;

    /** An object with its hash. */
    record Found(long hashHigh, long hashLow, ListedObject object) {}

    /**
     * Creates a listing that has not begun.
     *
     * @param changesBefore number of changes queued before the listing was requested
     */
    InventoryListing(ListCursor from, long changesBefore, ListVisitor visitor, Executor replyOn, ListCallback reply) {
        this.cursor = from;
        this.changesBefore = changesBefore;
        this.visitor = visitor;
        this.replyOn = replyOn;
        this.reply = reply;
    }

    /** Returns the number of changes queued before the listing was requested, which it must include. */
    long changesBefore() {
        return changesBefore;
    }

    /** Performs one step; false if the listing has ended and replied. */
    boolean step(List<VolumeInventory<H>> volumes) {
        try {
            if (volumes.isEmpty() && obstacle == null) {
                obstacle = "the volumes are being handed over to another worker; try again";
            }
            while (cursor.volume() < volumes.size()) {
                VolumeInventory<H> volume = volumes.get(cursor.volume());
                if (volume.isOpen() && cursor.segment() < volume.segments()) {
                    return showSegment(volume);
                }
                whole &= volume.isWhole();
                obstacle = volume.isOpen() ? obstacle : volume.obstacle();
                cursor = ListCursor.ofVolume(cursor.volume() + 1);
            }
            answer(null);
        } catch (RuntimeException | Error e) {
            LOG.warn("a listing of stored objects failed", e);
            end("the listing failed: " + e);
        }
        return false;
    }

    private boolean showSegment(VolumeInventory<H> volume) {
        // Checked for each segment: an inventory that is complete at the end may have lacked entries of this segment.
        int segments = volume.segments();
        whole &= volume.isWhole() && !cursor.isOfAnotherMap(segments);
        List<Found> found = volume.scan(cursor.segment(), cursor, visitor);
        found.sort((a, b) -> ListCursor.compare(a.hashHigh(), a.hashLow(), b.hashHigh(), b.hashLow()));
        for (Found entry : found) {
            if (!visitor.object(entry.object())) {
                answer(new ListCursor(
                        cursor.volume(), cursor.segment(), segments, true, entry.hashHigh(), entry.hashLow()));
                return false;
            }
        }
        cursor = ListCursor.of(cursor.volume(), cursor.segment() + 1, segments);
        if (visitor.goesOn()) {
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
