package io.millrace.store.disk;

import io.millrace.store.disk.record.DiskKey;
import io.millrace.store.disk.record.RecordAppendCallback;
import io.millrace.store.disk.record.RecordHeader;
import io.millrace.store.index.Location;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A buffer of whole objects that one system call writes to the active segment. Before the write, the segment's summary
 * (list of records), the index and the log's offset do not include these objects.
 *
 * <pre>
 *   active segment:  ... written | record | record | record |          BYTES at most
 *                                ^ offset of the log
 * </pre>
 *
 * <p>Confined to the volume's writer thread.
 */
final class RecordBatch {
    /**
     * Bytes of the buffer: large enough that the system call costs little compared with the copy, and small enough for
     * the CPU cache.
     */
    static final int BYTES = 256 * 1024;

    private final ByteBuffer buffer;
    private List<Member> members = new ArrayList<>();
    /** Start of the first record in the buffer. */
    private int first;

    private int length;

    /** A record of the batch, with the result of its write. */
    static final class Member {
        private final RecordHeader header;
        private final DiskKey key;
        private final RecordAppendCallback callback;
        /** Start of the record, relative to the first record. */
        private final int start;

        private long location = Location.NONE;
        private @Nullable IOException failure;

        private Member(RecordHeader header, DiskKey key, RecordAppendCallback callback, int start) {
            this.header = header;
            this.key = key;
            this.callback = callback;
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

        /** Returns the location of the record; {@link Location#NONE} if it was not written. */
        long location() {
            return location;
        }

        /** Returns the reason why the object is not stored; null on success. */
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

        /** Returns the receiver of the result. */
        RecordAppendCallback callback() {
            return callback;
        }

        /** Reports the result to its receiver. */
        void report() {
            callback.appended(failure);
        }
    }

    /**
     * Creates an empty batch.
     *
     * @param buffer has room for {@link #BYTES} after the offset passed to {@link #begin}; little-endian
     */
    RecordBatch(ByteBuffer buffer) {
        this.buffer = buffer;
    }

    /** Sets the offset of the first record in the buffer. Call before the first record is added. */
    void begin(int at) {
        assert isEmpty();
        first = at;
    }

    boolean isEmpty() {
        return members.isEmpty();
    }

    int size() {
        return members.size();
    }

    /** Returns the bytes of the records. */
    int length() {
        return length;
    }

    /** Returns true if a record of that length fits after the others. */
    boolean hasRoom(int recordLength) {
        return length + recordLength <= BYTES;
    }

    /** Returns the buffer. The caller encodes the next record at offset {@link #end} and then calls {@link #add}. */
    ByteBuffer buffer() {
        return buffer.clear();
    }

    /** Returns the offset in the buffer after the last record. */
    int end() {
        return first + length;
    }

    /** Adds the record that was encoded last. */
    void add(RecordHeader header, DiskKey key, RecordAppendCallback callback) {
        members.add(new Member(header, key, callback, length));
        length += header.recordLength();
    }

    /** Returns the bytes of all records, as they are written to the segment. */
    ByteBuffer bytes() {
        return buffer.clear().limit(end()).position(first);
    }

    /** Returns the bytes of one record; valid until the next use of the buffer. */
    ByteBuffer bytes(Member member) {
        return buffer.clear()
                .limit(first + member.start() + member.header().recordLength())
                .position(first + member.start());
    }

    /** Returns the records and empties the batch. */
    List<Member> take() {
        List<Member> taken = members;
        members = new ArrayList<>(taken.size());
        length = 0;
        return taken;
    }
}
