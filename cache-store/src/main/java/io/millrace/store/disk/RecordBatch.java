package io.millrace.store.disk;

import io.millrace.store.disk.record.Appended;
import io.millrace.store.disk.record.DiskKey;
import io.millrace.store.disk.record.RecordHeader;
import io.millrace.store.index.Location;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Whole objects that are put together for the active segment, to go there in one write. Until then they are nowhere: not
 * in the segment's summary, not in the index, not in the log's offset.
 *
 * <pre>
 *   active segment:  ... written | record | record | record |          BYTES at most
 *                                ^ offset of the log
 * </pre>
 *
 * <p>Confined to the volume's writer thread.
 */
final class RecordBatch {
    /** Bytes of the buffer: enough that the system call costs little beside the copying, and small enough for a cache. */
    static final int BYTES = 256 * 1024;

    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private List<Member> members = new ArrayList<>();
    private int length;

    /** One record and the outcome of its write. */
    static final class Member {
        private final RecordHeader header;
        private final DiskKey key;
        private final Appended then;
        /** Where it lies in the buffer. */
        private final int start;

        private long location = Location.NONE;
        private @Nullable IOException failure;

        private Member(RecordHeader header, DiskKey key, Appended then, int start) {
            this.header = header;
            this.key = key;
            this.then = then;
            this.start = start;
        }

        RecordHeader header() {
            return header;
        }

        DiskKey key() {
            return key;
        }

        int start() {
            return start;
        }

        /** Where it was written; {@link Location#NONE} when it was not. */
        long location() {
            return location;
        }

        /** Why its object does not count; null when it does. */
        @Nullable
        IOException failure() {
            return failure;
        }

        void written(long at) {
            location = at;
        }

        void failed(IOException reason) {
            failure = reason;
        }

        /** Who gave it, and is told. */
        Appended then() {
            return then;
        }

        /** Tells who gave it. */
        void tell() {
            then.appended(failure);
        }
    }

    boolean isEmpty() {
        return members.isEmpty();
    }

    int size() {
        return members.size();
    }

    /** Bytes of the records. */
    int length() {
        return length;
    }

    /** Whether a record of that length fits behind the others. */
    boolean hasRoom(int recordLength) {
        return length + recordLength <= BYTES;
    }

    /** Where the next record is to be encoded, at {@link #length}; to be followed by {@link #add}. */
    ByteBuffer buffer() {
        return buffer.clear();
    }

    /** Takes in the record that was encoded last. */
    void add(RecordHeader header, DiskKey key, Appended then) {
        members.add(new Member(header, key, then, length));
        length += header.recordLength();
    }

    /** All records, as they go to the segment. */
    ByteBuffer bytes() {
        return buffer.clear().limit(length);
    }

    /** One record. */
    ByteBuffer bytes(Member member) {
        return buffer.clear()
                .limit(member.start() + member.header().recordLength())
                .position(member.start());
    }

    /** Hands the records out and is empty. */
    List<Member> take() {
        List<Member> taken = members;
        members = new ArrayList<>(taken.size());
        length = 0;
        return taken;
    }
}
