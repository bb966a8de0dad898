package io.millrace.store.disk;

import io.millrace.store.disk.record.DiskKey;
import io.millrace.store.disk.record.RecordAppendCallback;
import io.millrace.store.disk.record.RecordHeader;
import io.millrace.store.index.MappedIndex;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A batch of whole objects that is written to the log and the index together. It contains objects that follow each
 * other in the volume's queue. A whole object has its head and body in one record.
 *
 * <pre>
 *   add, add, add ──→ writeBatch: one write ──→ index each ──→ Owner.succeeded ──→ report each
 * </pre>
 *
 * <p>Results are reported only after the object's bytes are written, and no index entry points to unwritten bytes.
 *
 * <p>Confined to the volume's writer thread.
 */
final class GatheredObjects {
    private static final Logger LOG = LoggerFactory.getLogger(GatheredObjects.class);

    private final SegmentLog log;
    private final MappedIndex index;
    private final Owner owner;

    /** The callbacks to the volume. */
    interface Owner {
        /** Throws if the volume cannot append. */
        void checkWorking() throws IOException;

        /** Called after a batch, when the index contains every record of the log. */
        void succeeded() throws IOException;

        /** Called for an I/O error. */
        void failed(IOException e);

        /** Called when the index can no longer be read or written. Returns the exception for the callers. */
        IOException indexFailed(Throwable e);

        /** Removes the key from the index although no tombstone (record of the removal) could be appended. */
        void forget(DiskKey key);

        /** Called when the index has the record as the newest one of its key. Throws no exception. */
        void stored(RecordBatch.Member member);
    }

    GatheredObjects(SegmentLog log, MappedIndex index, Owner owner) {
        this.log = log;
        this.index = index;
        this.owner = owner;
    }

    /**
     * Adds an object to the batch; borrows the buffers. On failure the key holds no object, and {@code callback}
     * receives the error.
     */
    void add(RecordHeader header, DiskKey key, ByteBuf head, ByteBuf body, RecordAppendCallback callback) {
        try {
            owner.checkWorking();
            // pace() may run the reclaimer, which writes this batch before it copies records to the active segment.
            log.pace(header.recordLength());
            if (!log.canGather(header.recordLength())) {
                writeBatch();
            }
            log.gather(header, key, head, body, callback);
        } catch (IOException e) {
            // Owner.forget writes the batch first, so it also removes an earlier object of the key in the batch.
            owner.forget(key);
            owner.failed(e);
            callback.appended(e);
        } catch (RuntimeException | InternalError e) {
            callback.appended(owner.indexFailed(e));
        }
    }

    /** Writes the batch, updates the index, and then reports the results. */
    void writeBatch() {
        if (log.isFlushed()) {
            return;
        }
        List<RecordBatch.Member> members = log.flush(owner::failed);
        try {
            boolean any = false;
            for (RecordBatch.Member member : members) {
                any |= index(member);
            }
            if (any) {
                owner.succeeded();
            }
        } catch (IOException e) {
            // Owner.succeeded could not append a pending tombstone. The records of the batch are valid.
            owner.failed(e);
        } catch (RuntimeException | InternalError e) {
            IOException failure = owner.indexFailed(e);
            members.forEach(member -> member.failed(failure));
        } finally {
            members.forEach(this::report);
        }
    }

    private boolean index(RecordBatch.Member member) {
        DiskKey key = member.key();
        if (member.failure() == null) {
            try {
                int hits = index.hits(key.hashHigh(), key.hashLow());
                index.put(
                        key.hashHigh(),
                        key.hashLow(),
                        member.location(),
                        member.header().expiry(),
                        hits);
                owner.stored(member);
                return true;
            } catch (IOException e) {
                member.failed(e);
            } catch (RuntimeException | InternalError e) {
                member.failed(owner.indexFailed(e));
            }
        }
        IOException failure = member.failure();
        if (failure != null) {
            owner.forget(key);
            owner.failed(failure);
        }
        return false;
    }

    private void report(RecordBatch.Member member) {
        try {
            member.report();
        } catch (RuntimeException e) {
            // An exception in one callback must not prevent the other callbacks.
            LOG.error("a callback failed after the object was stored: {}", member.header(), e);
        }
    }
}
