package io.millrace.store.disk;

import io.millrace.store.disk.record.DiskKey;
import io.millrace.store.disk.record.RecordAppendCallback;
import io.millrace.store.disk.record.RecordHeader;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/** Receives events of volumes; called on any thread of the store. */
public interface VolumeListener {
    /**
     * Called when a segment is nearly full, and again when it is full: the callee should force the file to the device.
     */
    void forceDue(Volume volume);

    /** Called when the index is complete. */
    void opened(Volume volume);

    /** Called when the volume went offline after errors. */
    void offline(Volume volume);

    /**
     * Called when an object's newest record was written: for a caller, or as a copy of a record whose segment is
     * reclaimed. Runs on the volume's thread. Throws no exception.
     *
     * @param header header of the record
     * @param location location of the record
     * @param receiver receives the result of the append after this call; null if not known
     * @param head the encoded head, borrowed; null if {@code receiver} is known
     */
    void stored(
            Volume volume,
            RecordHeader header,
            DiskKey key,
            long location,
            @Nullable RecordAppendCallback receiver,
            @Nullable ByteBuf head);

    /**
     * Called after the last append. Reads still work. The lease (the lock of the volume) is held until this method
     * returns. Runs on the volume's thread.
     *
     * @param closed true if the volume is closed; false if only its lease is released
     */
    void stopping(Volume volume, boolean closed);
}
