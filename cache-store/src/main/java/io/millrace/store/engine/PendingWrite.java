package io.millrace.store.engine;

import io.millrace.store.StoreKey;
import io.millrace.store.disk.Volume;
import io.millrace.store.disk.record.RecordAppendCallback;
import io.millrace.store.engine.object.ObjectAppender;
import java.io.IOException;

/** A write of a pending change to the log and the index of a volume. */
interface PendingWrite {
    /** The effect of a change on a volume's log and index. It runs on the volume's thread. */
    @FunctionalInterface
    interface VolumeWrite {
        void apply(Volume volume) throws IOException;
    }

    /**
     * Queues the write. When the write has ended, {@code end} is called once, on the volume's thread. If the volume
     * does not accept the write, returns false and never calls {@code end}.
     */
    boolean queue(Volume volume, RecordAppendCallback end);

    /** A write that is not batched: it ends when its task has run. */
    record AtOnce(StoreKey key, VolumeWrite write) implements PendingWrite {
        @Override
        public boolean queue(Volume volume, RecordAppendCallback end) {
            return volume.execute(() -> {
                IOException failure = null;
                try {
                    write.apply(volume);
                } catch (IOException e) {
                    failure = e;
                    // The key's previous record is outdated, so the key leaves the index although the write failed.
                    volume.forget(ObjectAppender.diskKey(key));
                } finally {
                    end.appended(failure);
                }
            });
        }
    }
}
