package io.millrace.store.disk;

import io.millrace.store.disk.record.Appended;
import io.millrace.store.disk.record.DiskKey;
import io.millrace.store.disk.record.RecordHeader;
import io.millrace.store.index.MappedIndex;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whole objects on their way into the log and the index, several at once: those that the volume's queue holds one after
 * the other.
 *
 * <pre>
 *   add, add, add ──→ settle: one write ──→ index, each ──→ the log is applied ──→ who gave them is told, each
 * </pre>
 *
 * So nobody is told before the object's bytes are written, and no index entry points to what is not.
 *
 * <p>Confined to the volume's writer thread.
 */
final class GatheredObjects {
    private static final Logger LOG = LoggerFactory.getLogger(GatheredObjects.class);

    private final SegmentLog log;
    private final MappedIndex index;
    private final Owner owner;

    /** The volume. */
    interface Owner {
        /** Throws when nothing can be appended. */
        void checkWorking() throws IOException;

        /** The index knows all that the log has. */
        void succeeded() throws IOException;

        /** An I/O error. */
        void failed(IOException e);

        /** The index cannot be read or written any more; what callers are to be told. */
        IOException indexFailed(Throwable e);

        /** The key holds nothing although the log cannot say so. */
        void forget(DiskKey key);

        /** It is its key's newest record. */
        void stored(RecordBatch.Member member);
    }

    GatheredObjects(SegmentLog log, MappedIndex index, Owner owner) {
        this.log = log;
        this.index = index;
        this.owner = owner;
    }

    /** Takes in an object; borrows the buffers. If it cannot be done the key holds nothing. */
    void add(RecordHeader header, DiskKey key, ByteBuf head, ByteBuf body, Appended then) {
        try {
            owner.checkWorking();
            // What carries settles first if it has anything to do.
            log.pace(header.recordLength());
            if (!log.canGather(header.recordLength())) {
                settle();
            }
            log.gather(header, key, head, body, then);
        } catch (IOException e) {
            // Also what was gathered of the key before.
            owner.forget(key);
            owner.failed(e);
            then.appended(e);
        } catch (RuntimeException | InternalError e) {
            then.appended(owner.indexFailed(e));
        }
    }

    /** Writes what was gathered and says so to the index, and then to those who gave it. */
    void settle() {
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
            // A tombstone is still owed; these records count.
            owner.failed(e);
        } catch (RuntimeException | InternalError e) {
            IOException said = owner.indexFailed(e);
            members.forEach(member -> member.failed(said));
        } finally {
            members.forEach(this::tell);
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

    private void tell(RecordBatch.Member member) {
        try {
            if (member.failure() == null) {
                owner.stored(member);
            }
            member.tell();
        } catch (RuntimeException e) {
            // One of them must not keep the others from being told.
            LOG.error("object that was stored: {}", member.header(), e);
        }
    }
}
