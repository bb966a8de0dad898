package io.millrace.store.disk;

import io.millrace.store.disk.record.Appended;
import io.millrace.store.disk.record.DiskKey;
import io.millrace.store.disk.record.RecordHeader;
import org.jspecify.annotations.Nullable;

/** Is told of changes; called on any thread of the store. */
public interface VolumeListener {
    /** A segment was filled: time to force the file. */
    void segmentSealed(Volume volume);

    /** The index is whole from now on. */
    void opened(Volume volume);

    /** The volume was given up. */
    void offline(Volume volume);

    /**
     * An object's newest record, with that header, lies at {@code location} from now on. On the volume's thread.
     *
     * @param told who is told next that the record is appended; null when that is not known here
     */
    void stored(Volume volume, RecordHeader header, DiskKey key, long location, @Nullable Appended told);

    /**
     * Nothing is appended any more; reads still work, and the lease is held until this returns. On the volume's
     * thread.
     *
     * @param forGood whether the volume is closed, not handed over
     */
    void stopping(Volume volume, boolean forGood);
}
